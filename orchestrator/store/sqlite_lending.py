"""The write transaction's own connection, lent to a handler as a SQLAlchemy connection.

What is written through it is undone when the handler fails, and becomes durable with the commit that it is
part of. It can neither commit nor roll back that commit, nor touch the tables of orchestrator.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from orchestrator.errors import StoreError, TransactionLost, UsageError
from orchestrator.store.sql import SCHEMA

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_SAVEPOINT = "orchestrator_handler"
_TABLES = frozenset(text.split()[2] for text in SCHEMA if text.startswith("CREATE TABLE"))
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_TABLE}


_INTERRUPT_EVERY = 0.01
"""Seconds."""


class Loan:
    """`connection` works until the loan is ended or revoked; then it refuses everything."""

    def __init__(self, connection: Connection, borrowed: Borrowed) -> None:
        self.connection = connection
        self._borrowed = borrowed

    def revoke(self) -> None:
        """Take it back from a handler that still runs; its present statement is interrupted."""
        self._borrowed.revoke()


class Borrowed:
    """Stands for the DBAPI connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._in_use = threading.RLock()
        self._is_open = True
        self._cursors: list[sqlite3.Cursor] = []

    @contextmanager
    def used(self) -> Iterator[sqlite3.Connection]:
        with self._in_use:
            if not self._is_open:
                raise StoreError("the step of this connection is over: its commit is made, or was given up")
            yield self._connection

    def end(self) -> None:
        """An unfinished query would make SQLite's statements of the commit wait, or fail."""
        self._is_open = False
        with self._in_use:
            for cursor in self._cursors:
                cursor.close()
            self._cursors.clear()

    def revoke(self) -> None:
        self._is_open = False
        while not self._in_use.acquire(timeout=_INTERRUPT_EVERY):
            self._connection.interrupt()  # a statement may be about to begin
        self._in_use.release()
        self.end()

    def forget(self, cursor: sqlite3.Cursor) -> None:
        with self._in_use, suppress(ValueError):
            self._cursors.remove(cursor)
            cursor.close()

    # --- As SQLAlchemy calls it ---

    def cursor(self, *arguments: Any) -> BorrowedCursor:
        with self.used() as connection:
            cursor = connection.cursor(*arguments)
            self._cursors.append(cursor)
            return BorrowedCursor(self, cursor)

    def commit(self) -> None:
        raise UsageError("this connection is part of its step's commit and is committed with it, not before")

    def rollback(self) -> None:
        """Back to where the handler began; later statements are part of the commit again."""
        with self._in_use:
            if self._is_open:
                self._connection.execute(f"ROLLBACK TO {_SAVEPOINT}")

    def close(self) -> None:
        """It is the store's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class BorrowedCursor:
    def __init__(self, borrowed: Borrowed, cursor: sqlite3.Cursor) -> None:
        self._borrowed = borrowed
        self._cursor = cursor

    def execute(self, *arguments: Any) -> BorrowedCursor:
        with self._borrowed.used():
            self._cursor.execute(*arguments)
        return self

    def executemany(self, *arguments: Any) -> BorrowedCursor:
        with self._borrowed.used():
            self._cursor.executemany(*arguments)
        return self

    def executescript(self, script: str) -> BorrowedCursor:
        raise UsageError("a script commits; give its statements one by one")

    def fetchone(self) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchone()

    def fetchmany(self, *arguments: Any) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchmany(*arguments)

    def fetchall(self) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchall()

    def close(self) -> None:
        self._borrowed.forget(self._cursor)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


class Lender:
    """One per store: keeps SQLAlchemy's engine, which is slow to make."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._borrowed: Borrowed | None = None

    @contextmanager
    def lend(self, connection: sqlite3.Connection) -> Iterator[Loan]:
        """Inside the write transaction of `connection`; what raises in the block undoes the handler's writes.

        Raises TransactionLost when the handler has ended the transaction itself.
        """
        borrowed = self._borrowed = Borrowed(connection)
        connection.execute(f"SAVEPOINT {_SAVEPOINT}")
        try:
            with self._find_engine().connect() as lent:
                lent.begin()
                connection.set_authorizer(_authorize)
                try:
                    yield Loan(lent, borrowed)
                finally:
                    borrowed.end()
                    connection.set_authorizer(None)
        except BaseException:
            _demand_transaction(connection)
            connection.execute(f"ROLLBACK TO {_SAVEPOINT}")
            connection.execute(f"RELEASE {_SAVEPOINT}")
            raise
        _demand_transaction(connection)
        connection.execute(f"RELEASE {_SAVEPOINT}")

    def _find_engine(self) -> Engine:
        if self._engine is None:
            from sqlalchemy import create_engine
            from sqlalchemy.pool import NullPool

            self._engine = create_engine("sqlite://", creator=lambda: self._borrowed, poolclass=NullPool)
        return self._engine


def _demand_transaction(connection: sqlite3.Connection) -> None:
    if not connection.in_transaction:
        raise TransactionLost("the handler's statements made SQLite roll back the whole commit")


def _authorize(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    if action == sqlite3.SQLITE_TRANSACTION:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_SAVEPOINT and second == _SAVEPOINT:
        return sqlite3.SQLITE_OK if first == "ROLLBACK" else sqlite3.SQLITE_DENY
    if action in _WRITES and first in _TABLES and database in ("main", None):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
