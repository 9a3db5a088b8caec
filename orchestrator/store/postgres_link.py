"""One connection to PostgreSQL: what can wait is sent together with the next question, in one round trip.

A transaction's beginning, its writes and its commit wait; so a commit costs as many round trips as it has
questions that it must know the answer of, and one more.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.sql import Identifier

from orchestrator.errors import StoreConflict, StoreError
from orchestrator.store.postgres_url import Address
from orchestrator.store.postgres_wire import Answer, Call, Statement, Wire
from orchestrator.store.postgres_wire import Rows as Rows
from orchestrator.store.sql import read_sql

_SCHEMA = re.compile(r"\borchestrator\.")
_PARAMETER = re.compile(r"%s")
_CONFLICTS = (
    psycopg.errors.DivisionByZero,  # postgres_statements.py: a guard has not found what it demands
    psycopg.errors.UniqueViolation,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
_TRUSTING, _RINGING = "trusting_", "_and_ring"
"""Marks in the names of statements that do the same as others, and more."""
_READ_COMMITTED = "READ COMMITTED"
"""Others, and databases that are only alike, are told where a transaction begins and ends."""
LONGEST_IDLE = 10_000
"""Milliseconds that a process may do nothing inside a transaction. Who is frozen there holds locks that
others wait for: it is cut off, and does it again. As long as a lease; a handler that was lent the connection
may take longer.
"""

WAYS_OF_MANY = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
"""What writes looks for few rows, by index. A plan that the server made, and keeps, when a table was new and
empty would read the whole table each time, however large it has become.
"""


class Dialect:
    """The statements, with the name of this store's schema in them."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.quoted = Identifier(schema).as_string()
        made, statements, _ = read_sql("postgres.sql")
        self.definitions = tuple(map(self.named, made))
        self.statements = {name: Statement(_numbered(self.named(text))) for name, text in statements.items()}
        self.trusting = {
            self.statements[name.removeprefix(_TRUSTING)]: statement
            for name, statement in self.statements.items()
            if name.startswith(_TRUSTING)
        }
        self.ringing = {
            self.statements[name.removesuffix(_RINGING)]: statement
            for name, statement in self.statements.items()
            if name.endswith(_RINGING)
        }
        self.tables = tuple(text.split()[2] for text in self.definitions if text.startswith("CREATE TABLE"))

    def named(self, text: str) -> str:
        return _SCHEMA.sub(lambda _: f"{self.quoted}.", text)


def _numbered(text: str) -> str:
    numbers = count(1)
    return _PARAMETER.sub(lambda _: f"${next(numbers)}", text)


class Link:
    """Not safe to use from several threads. Raises what psycopg raises."""

    def __init__(
        self,
        connection: Connection[Any],
        dialect: Dialect,
        *,
        prepares: bool = False,
        is_transaction: bool = False,
    ) -> None:
        """`prepares`: statements stay on the connection for the next time.

        `is_transaction`: a message that does not begin a transaction is one, of the isolation that is wanted.
        """
        self.connection = connection
        self.statements = dialect.statements
        self._trusting = dialect.trusting
        self._ringing = dialect.ringing
        self.is_transaction = is_transaction
        self.fence = secrets.randbits(63)
        """A lock that commits may take which nobody can ask about afterwards (postgres_fate.py)."""
        self._wire = Wire(connection, prepares=prepares)
        self.opening: Callable[[], list[Call]] | None = None
        """It gives what is sent before everything else, as soon as anything is."""
        self._waiting: list[Call] = []

    @property
    def is_broken(self) -> bool:
        return self.connection.closed

    @property
    def has_news(self) -> bool:
        """Has the server said anything while nobody asked: most likely, that it hangs up?"""
        return self.is_broken or self._wire.has_news()

    @property
    def is_begun(self) -> bool:
        """Is there a transaction, perhaps a failed one, or does nobody know?"""
        return self.connection.info.transaction_status is not TransactionStatus.IDLE

    def all(self, name: str, *parameters: object) -> Rows:
        return self.together([(name, parameters)])[0]

    def together(self, questions: Sequence[tuple[str, Sequence[object]]]) -> list[Rows]:
        """Ask all of these in one round trip."""
        calls = [Call(self.statements[name], parameters) for name, parameters in questions]
        return [answer.rows for answer in self._send(calls)]

    def count(self, name: str, *parameters: object) -> int:
        """How many rows it has changed."""
        return self._send([Call(self.statements[name], parameters)])[0].row_count

    def execute(self, text: str) -> None:
        """One or more statements, as they are."""
        self.flush()
        self.connection.execute(text)

    def call(self, name: str, *parameters: object, on_rows: Callable[[Rows], None] | None = None) -> Call:
        return Call(self.statements[name], parameters, on_rows)

    def defer(self, name: str, *parameters: object) -> None:
        self._waiting.append(Call(self.statements[name], parameters))

    def defer_many(self, name: str, rows: Sequence[Sequence[object]]) -> None:
        self._waiting.append(Call(self.statements[name], rows, is_many=True))

    def defer_text(self, text: str | Statement) -> None:
        """A `Statement` is one that comes again."""
        self._waiting.append(Call(text if isinstance(text, Statement) else Statement(text, is_kept=False)))

    def defer_ring(self, *parameters: object) -> None:
        """Of "notify". What waits alone does it itself, if it is of the kind that can."""
        ringing = self._ringing.get(self._waiting[0].statement) if len(self._waiting) == 1 else None
        if ringing is None:
            self.defer("notify", *parameters)
        else:
            self._waiting[0] = Call(ringing, (*self._waiting[0].parameters, *parameters))

    def trust_in_first(self, *demanded: object) -> bool:
        """The first that waits demands this itself, if it is of the kind that can."""
        first = self._waiting[0]
        trusting = self._trusting.get(first.statement)
        if trusting is None:
            return False
        self._waiting[0] = Call(trusting, (*first.parameters, *demanded))
        return True

    def flush(self) -> None:
        if self.opening or self._waiting:
            self._send([])

    def end(self, statement: Statement) -> None:
        """The last of a transaction that only reads: nobody waits for it."""
        self._wire.send_last(statement)

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    def forget(self) -> None:
        """What waits is not sent."""
        self.opening = None
        self._waiting.clear()

    def close(self) -> None:
        self.connection.close()

    def _send(self, calls: list[Call]) -> list[Answer]:
        waiting = self._waiting if self.opening is None else [*self.opening(), *self._waiting]
        self.opening, self._waiting = None, []
        answers = iter(self._wire.send([*waiting, *calls]))
        for call in waiting:
            if not call.is_many:
                answer = next(answers)
                if call.on_rows is not None:
                    call.on_rows(answer.rows)
        return list(answers)


def connect(address: Address, dialect: Dialect, *, is_writer: bool = False) -> Link:
    connection = psycopg.connect(address.conninfo, autocommit=True)
    connection.prepare_threshold = None  # it would deallocate ours together with its own
    is_transaction = is_writer and not address.is_pooled and address.isolation == _READ_COMMITTED
    if not address.is_pooled:
        settings = [f"idle_in_transaction_session_timeout TO {LONGEST_IDLE}"]
        if is_writer:
            settings += [f"{way} TO off" for way in WAYS_OF_MANY]
            settings.append("plan_cache_mode TO force_generic_plan")  # the same plan, without making it anew
        if is_transaction:
            settings.append("default_transaction_isolation TO 'read committed'")
        connection.execute("; ".join(f"SET {each}" for each in settings))
    return Link(connection, dialect, prepares=not address.is_pooled, is_transaction=is_transaction)


def store_error(error: psycopg.Error, place: str) -> StoreError:
    if isinstance(error, _CONFLICTS):
        return StoreConflict(f"{place}: a run was changed by another process meanwhile ({_text(error)})")
    return StoreError(f"{place}: {_text(error)}")


def _text(error: psycopg.Error) -> str:
    """The first line: what follows are details for those who wrote the statement."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
