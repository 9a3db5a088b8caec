"""One connection to PostgreSQL: what can wait is sent together with the next question, in one round trip.

A transaction's beginning, its writes and its commit wait; so a commit costs as many round trips as it has
questions that it must know the answer of, and one more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import psycopg
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.sql import Identifier

from orchestrator.errors import StoreConflict, StoreError
from orchestrator.store.postgres_url import Address
from orchestrator.store.sql import read_sql

Rows: TypeAlias = list[tuple[Any, ...]]
_SCHEMA = re.compile(r"\borchestrator\.")
_PREPARED_COUNT = 250
_CONFLICTS = (
    psycopg.errors.DivisionByZero,  # postgres_statements.py: a guard has not found what it demands
    psycopg.errors.UniqueViolation,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)


class Dialect:
    """The statements, with the name of this store's schema in them."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.quoted = Identifier(schema).as_string()
        made, statements, _ = read_sql("postgres.sql")
        self.definitions = tuple(map(self.named, made))
        self.statements = {name: self.named(text) for name, text in statements.items()}
        self.tables = tuple(text.split()[2] for text in self.definitions if text.startswith("CREATE TABLE"))

    def named(self, text: str) -> str:
        return _SCHEMA.sub(lambda _: f"{self.quoted}.", text)


class Call(NamedTuple):
    text: str
    parameters: Sequence[Any] | None
    on_rows: Callable[[Rows], None] | None = None
    is_many: bool = False
    """`parameters` are those of many executions."""


class Link:
    """Not safe to use from several threads. Raises what psycopg raises."""

    def __init__(self, connection: Connection[Any], dialect: Dialect) -> None:
        self.connection = connection
        self.statements = dialect.statements
        self._waiting: list[Call] = []

    @property
    def is_broken(self) -> bool:
        return self.connection.closed

    @property
    def is_begun(self) -> bool:
        """Is there a transaction, perhaps a failed one, or does nobody know?"""
        return self.connection.info.transaction_status is not TransactionStatus.IDLE

    def all(self, name: str, *parameters: object) -> Rows:
        return self.together([(name, parameters)])[0]

    def together(self, questions: Sequence[tuple[str, Sequence[object]]]) -> list[Rows]:
        """Ask all of these in one round trip."""
        calls = [Call(self.statements[name], parameters) for name, parameters in questions]
        return [_rows_of(cursor) for cursor in self._send(calls)]

    def count(self, name: str, *parameters: object) -> int:
        """How many rows it has changed."""
        return self._send([Call(self.statements[name], parameters)])[0].rowcount

    def execute(self, text: str) -> None:
        self._send([Call(text, None)])

    def defer(self, name: str, *parameters: object, on_rows: Callable[[Rows], None] | None = None) -> None:
        self._waiting.append(Call(self.statements[name], parameters, on_rows))

    def defer_many(self, name: str, rows: Sequence[Sequence[object]]) -> None:
        self._waiting.append(Call(self.statements[name], rows, is_many=True))

    def defer_text(self, text: str) -> None:
        self._waiting.append(Call(text, None))

    def flush(self) -> None:
        if self._waiting:
            self._send([])

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    def forget(self) -> None:
        """What waits is not sent."""
        self._waiting.clear()

    def close(self) -> None:
        self.connection.close()

    def _send(self, calls: list[Call]) -> list[Cursor[tuple[Any, ...]]]:
        waiting, self._waiting = self._waiting, []
        everything = waiting + calls
        if len(everything) == 1 and not everything[0].is_many:
            cursors = [self._start(everything[0])]
        else:
            with self.connection.pipeline():  # in one message, and one back
                cursors = [self._start(call) for call in everything]
        for call, cursor in zip(waiting, cursors, strict=False):
            if call.on_rows is not None:
                call.on_rows(_rows_of(cursor))
        return cursors[len(waiting) :]

    def _start(self, call: Call) -> Cursor[tuple[Any, ...]]:
        is_binary = call.parameters is not None
        cursor = self.connection.cursor(binary=is_binary, row_factory=tuple_row)
        if call.is_many:
            cursor.executemany(call.text, call.parameters or ())
        else:
            cursor.execute(call.text, call.parameters)
        return cursor


def connect(address: Address, dialect: Dialect) -> Link:
    connection = psycopg.connect(address.conninfo, autocommit=True)
    connection.prepare_threshold = None if address.is_pooled else 2
    connection.prepared_max = _PREPARED_COUNT
    return Link(connection, dialect)


def _rows_of(cursor: Cursor[tuple[Any, ...]]) -> Rows:
    return cursor.fetchall() if cursor.description is not None else []


def store_error(error: psycopg.Error, place: str) -> StoreError:
    if isinstance(error, _CONFLICTS):
        return StoreConflict(f"{place}: a run was changed by another process meanwhile ({_text(error)})")
    return StoreError(f"{place}: {_text(error)}")


def _text(error: psycopg.Error) -> str:
    """The first line: what follows are details for those who wrote the statement."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
