"""The write transaction's own connection, lent to a handler as a SQLAlchemy connection.

What is written through it is undone when the handler fails, and becomes durable with the commit that it is
part of. It can neither commit nor roll back that commit. Unlike SQLite, PostgreSQL does not keep it from the
tables of orchestrator: they are in a schema of their own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from orchestrator.errors import StoreError, TransactionLost, UsageError
from orchestrator.store.postgres_link import Link

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_SAVEPOINT = "orchestrator_handler"
_ENDS_TRANSACTION = re.compile(
    r"\s*(commit|end|abort|begin|start\s+transaction|prepare\s+transaction|rollback(?!\s+(\w+\s+)?to\b))\b",
    re.IGNORECASE,
)
_CANCEL_EVERY = 0.05
"""Seconds."""


class Loan:
    """`connection` works until the loan is ended or revoked; then it refuses everything."""

    def __init__(self, connection: Connection, borrowed: Borrowed) -> None:
        self.connection = connection
        self._borrowed = borrowed

    def revoke(self) -> None:
        """Take it back from a handler that still runs; its present statement is cancelled."""
        self._borrowed.revoke()


class Borrowed:
    """Stands for the DBAPI connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._in_use = threading.RLock()
        self._is_open = True

    @contextmanager
    def used(self) -> Iterator[psycopg.Connection[Any]]:
        with self._in_use:
            if not self._is_open:
                raise StoreError("the step of this connection is over: its commit is made, or was given up")
            yield self._connection

    def end(self) -> None:
        self._is_open = False

    def revoke(self) -> None:
        self._is_open = False
        while not self._in_use.acquire(timeout=_CANCEL_EVERY):
            with suppress(psycopg.Error):
                self._connection.cancel_safe()  # a statement may be about to begin
        self._in_use.release()

    # --- As SQLAlchemy calls it ---

    def cursor(self, *arguments: Any, **options: Any) -> BorrowedCursor:
        with self.used() as connection:
            return BorrowedCursor(self, connection.cursor(*arguments, **options))

    def commit(self) -> None:
        raise UsageError("this connection is part of its step's commit and is committed with it, not before")

    def rollback(self) -> None:
        """Back to where the handler began; later statements are part of the commit again."""
        with self._in_use:
            if self._is_open:
                self._connection.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")

    def close(self) -> None:
        """It is the store's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class BorrowedCursor:
    def __init__(self, borrowed: Borrowed, cursor: psycopg.Cursor[Any]) -> None:
        self._borrowed = borrowed
        self._cursor = cursor

    def execute(self, query: Any, *arguments: Any, **options: Any) -> BorrowedCursor:
        _demand_harmless(query)
        with self._borrowed.used():
            self._cursor.execute(query, *arguments, **options)
        return self

    def executemany(self, query: Any, *arguments: Any, **options: Any) -> None:
        _demand_harmless(query)
        with self._borrowed.used():
            self._cursor.executemany(query, *arguments, **options)

    def copy(self, *arguments: Any, **options: Any) -> Any:
        with self._borrowed.used():
            return self._cursor.copy(*arguments, **options)

    def fetchone(self) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchone()

    def fetchmany(self, *arguments: Any) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchmany(*arguments)

    def fetchall(self) -> Any:
        with self._borrowed.used():
            return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def _demand_harmless(query: Any) -> None:
    if isinstance(query, str) and (_ENDS_TRANSACTION.match(query) or _SAVEPOINT in query.lower()):
        raise psycopg.errors.InsufficientPrivilege("not authorized: the commit is not the handler's to end")


class Lender:
    """One per store: keeps SQLAlchemy's engine, which is slow to make."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._borrowed: Borrowed | None = None

    @contextmanager
    def lend(self, link: Link) -> Iterator[Loan]:
        """Inside the write transaction of `link`; what raises in the block undoes the handler's writes.

        Raises TransactionLost when the handler has ended the transaction itself.
        """
        borrowed = self._borrowed = Borrowed(link.connection)
        link.execute(f"SAVEPOINT {_SAVEPOINT}")
        try:
            with self._find_engine().connect() as lent:
                try:
                    yield Loan(lent, borrowed)
                    _demand_unbroken(link)
                finally:
                    borrowed.end()
        except BaseException:
            _end(link, f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}; RELEASE SAVEPOINT {_SAVEPOINT}")
            raise
        _end(link, f"RELEASE SAVEPOINT {_SAVEPOINT}")

    def _find_engine(self) -> Engine:
        if self._engine is None:
            from sqlalchemy import create_engine
            from sqlalchemy.pool import NullPool

            self._engine = create_engine(
                "postgresql+psycopg://",
                creator=lambda: self._borrowed,
                poolclass=NullPool,
                use_native_hstore=False,
            )
        return self._engine


def _demand_unbroken(link: Link) -> None:
    """Whoever catches the error of a statement leaves a transaction that cannot be committed."""
    if link.connection.info.transaction_status is TransactionStatus.INERROR:
        raise StoreError(
            "a statement of the handler has failed and was not rolled back: "
            "put it in `with connection.begin_nested():`"
        )


def _end(link: Link, text: str) -> None:
    try:
        link.execute(text)
    except psycopg.Error as error:
        raise TransactionLost(f"the handler's statements ended the commit: {error}") from error
