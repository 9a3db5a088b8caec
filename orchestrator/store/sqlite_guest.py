"""A store inside a transaction of its caller: what is written becomes durable, and visible, when they commit.

The caller's SQLAlchemy connection must be to the very file. Each of our transactions is a savepoint of
theirs, so that a refused request leaves nothing behind and their own writes untouched.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sqlite_file import explain
from orchestrator.store.sqlite_lending import Lender
from orchestrator.store.sqlite_reading import SqliteReading, read_pauses, read_queues
from orchestrator.store.sqlite_writing import SqliteTransaction

if TYPE_CHECKING:
    from sqlalchemy import Connection as Connection

_SAVEPOINT = "orchestrator_guest"
_TAKE_WRITE_LOCK = "UPDATE marks SET value = value WHERE name = ''"
"""Changes nothing, but from then on nobody else writes and what is read is current."""
_epochs = itertools.count(-2, -1)
"""Never one of a store's own: what was learned inside is not to be trusted outside."""


class SqliteGuest:
    """See contract.Store. `on_commit` is called in a moment when the caller's commit is about to be made."""

    has_server = False

    def __init__(self, connection: Connection, path: str, on_commit: Callable[[], None]) -> None:
        self.url = f"sqlite:///{path}"
        self._path = path
        self._connection = connection
        self._lender = Lender()
        self._on_commit = on_commit
        self._is_ring_due = False
        self._demand_same_file()
        self._follow_commits()

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        with self._errors():
            connection = self._begin()
            connection.execute(f"SAVEPOINT {_SAVEPOINT}")
            try:
                transaction = SqliteTransaction(
                    connection,
                    self._lender,
                    epoch=next(_epochs),
                    last_run=connection.execute(STATEMENTS["last_run"]).fetchone()[0],
                    pauses=read_pauses(connection),
                    queues=read_queues(connection),
                )
                yield transaction
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute(f"ROLLBACK TO {_SAVEPOINT}")
                    connection.execute(f"RELEASE {_SAVEPOINT}")
                raise
            connection.execute(f"RELEASE {_SAVEPOINT}")
            self._is_ring_due |= transaction.is_ring_due

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        with self._errors():
            yield SqliteReading(self._begin())

    def clock_time(self) -> datetime | None:
        return None

    def ring(self) -> None:
        self._is_ring_due = True

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        raise UsageError("nothing can be waited for inside a transaction: commit it first")

    def vacuum(self) -> None:
        raise UsageError("a transaction cannot vacuum its database")

    def sizes(self) -> tuple[int, int]:
        return os.path.getsize(self._path), 0

    def close(self) -> None:
        """The connection is the caller's."""

    def _begin(self) -> sqlite3.Connection:
        """The caller's transaction, begun if need be, with the write lock."""
        self._connection.exec_driver_sql("SELECT 1").close()  # SQLAlchemy begins its transaction
        connection = self._driver()
        connection.execute(_TAKE_WRITE_LOCK)
        if not connection.in_transaction:
            raise UsageError("the connection is in autocommit mode; give one that is in a transaction")
        return connection

    def _driver(self) -> sqlite3.Connection:
        driver: Any = self._connection.connection.dbapi_connection
        if not isinstance(driver, sqlite3.Connection):
            raise UsageError(f"a connection to SQLite is needed, not one of {type(driver).__module__}")
        return driver

    def _demand_same_file(self) -> None:
        if self._connection.dialect.name != "sqlite":
            raise UsageError(
                f"the connection is to {self._connection.dialect.name}, the runs are in {self._path}"
            )
        with self._errors():
            databases = self._driver().execute("PRAGMA database_list").fetchall()
        file = next((file for _, name, file in databases if name == "main"), "")
        if not file or not os.path.samefile(file, self._path):
            raise UsageError(
                f"the connection is to {file or 'a database in memory'}, the runs are in {self._path}"
            )

    def _follow_commits(self) -> None:
        from sqlalchemy import event

        event.listen(self._connection, "commit", self._note_commit)
        event.listen(self._connection, "rollback", self._note_rollback)

    def _note_commit(self, _: Connection) -> None:
        if self._is_ring_due:
            self._is_ring_due = False
            self._on_commit()

    def _note_rollback(self, _: Connection) -> None:
        self._is_ring_due = False

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {_explain(error)}", path=self._path) from error
        except DBAPIError as error:
            raise StoreError(f"{self._path}: {error.orig}", path=self._path) from error


def _explain(error: sqlite3.Error) -> str:
    if "locked" in str(error):
        return (
            "another program writes, or has written since this transaction first read; let the client's call "
            "come first in the transaction, or begin it with BEGIN IMMEDIATE"
        )
    return explain(error)
