"""The write transaction's own connection, lent to a handler as a SQLAlchemy connection.

What is written through it is undone when the handler fails, and becomes durable with the commit that it is
part of. It can neither commit nor roll back that commit, nor touch the tables of orchestrator.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from orchestrator.errors import TransactionLost, UsageError
from orchestrator.store.lending import RELEASE, ROLLBACK, SAVEPOINT, Borrowed, BorrowedCursor, Loan
from orchestrator.store.sql import SCHEMA

if TYPE_CHECKING:
    from sqlalchemy import Engine

_TABLES = frozenset(text.split()[2] for text in SCHEMA if text.startswith("CREATE TABLE"))
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_TABLE}


class SqliteBorrowed(Borrowed[sqlite3.Connection]):
    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._cursors: list[sqlite3.Cursor] = []

    def end(self) -> None:
        """An unfinished query would make SQLite's statements of the commit wait, or fail."""
        super().end()
        with self._in_use:
            for cursor in self._cursors:
                cursor.close()
            self._cursors.clear()

    def _interrupt(self) -> None:
        self._connection.interrupt()

    def cursor(self, *arguments: Any) -> SqliteBorrowedCursor:
        with self.used() as connection:
            cursor = connection.cursor(*arguments)
            self._cursors.append(cursor)
            return SqliteBorrowedCursor(self, cursor)

    def forget(self, cursor: sqlite3.Cursor) -> None:
        with self._in_use, suppress(ValueError):
            self._cursors.remove(cursor)
            cursor.close()


class SqliteBorrowedCursor(BorrowedCursor):
    _borrowed: SqliteBorrowed

    def execute(self, *arguments: Any) -> SqliteBorrowedCursor:
        with self._borrowed.used():
            self._cursor.execute(*arguments)
        return self

    def executemany(self, *arguments: Any) -> SqliteBorrowedCursor:
        with self._borrowed.used():
            self._cursor.executemany(*arguments)
        return self

    def executescript(self, script: str) -> SqliteBorrowedCursor:
        raise UsageError("a script commits; give its statements one by one")

    def close(self) -> None:
        self._borrowed.forget(self._cursor)


class Lender:
    """One per store: keeps SQLAlchemy's engine, which is slow to make."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._borrowed: SqliteBorrowed | None = None

    @contextmanager
    def lend(self, connection: sqlite3.Connection) -> Iterator[Loan]:
        """Inside the write transaction of `connection`; what raises in the block undoes the handler's writes.

        Raises TransactionLost when the handler has ended the transaction itself.
        """
        borrowed = self._borrowed = SqliteBorrowed(connection)
        connection.execute(f"SAVEPOINT {SAVEPOINT}")
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
            connection.execute(ROLLBACK)
            connection.execute(RELEASE)
            raise
        _demand_transaction(connection)
        connection.execute(RELEASE)

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
    if action == sqlite3.SQLITE_SAVEPOINT and second == SAVEPOINT:
        return sqlite3.SQLITE_OK if first == "ROLLBACK" else sqlite3.SQLITE_DENY
    if action in _WRITES and first in _TABLES and database in ("main", None):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
