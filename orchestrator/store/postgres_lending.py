"""The write transaction's own connection, lent to a handler as a SQLAlchemy connection.

What is written through it is undone when the handler fails, and becomes durable with the commit that it is
part of. It can neither commit nor roll back that commit. Unlike SQLite, PostgreSQL does not keep it from the
tables of orchestrator: they are in a schema of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from orchestrator.errors import StoreError, TransactionLost
from orchestrator.store.lending import RELEASE, ROLLBACK, SAVEPOINT, Borrowed, BorrowedCursor, Loan
from orchestrator.store.postgres_link import WAYS_OF_MANY, Link

if TYPE_CHECKING:
    from sqlalchemy import Engine

_AS_USUAL = "; ".join(f"SET LOCAL {way} TO DEFAULT" for way in WAYS_OF_MANY)
_ENDS_TRANSACTION = re.compile(
    r"\s*(commit|end|abort|begin|start\s+transaction|prepare\s+transaction|rollback(?!\s+(\w+\s+)?to\b))\b",
    re.IGNORECASE,
)


class PostgresBorrowed(Borrowed[psycopg.Connection[Any]]):
    def _interrupt(self) -> None:
        with suppress(psycopg.Error):
            self._connection.cancel_safe()

    def cursor(self, *arguments: Any, **options: Any) -> PostgresBorrowedCursor:
        with self.used() as connection:
            return PostgresBorrowedCursor(self, connection.cursor(*arguments, **options))


class PostgresBorrowedCursor(BorrowedCursor):
    def execute(self, query: Any, *arguments: Any, **options: Any) -> PostgresBorrowedCursor:
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


def _demand_harmless(query: Any) -> None:
    if isinstance(query, str) and (_ENDS_TRANSACTION.match(query) or SAVEPOINT in query.lower()):
        raise psycopg.errors.InsufficientPrivilege("not authorized: the commit is not the handler's to end")


class Lender:
    """One per store: keeps SQLAlchemy's engine, which is slow to make."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._borrowed: PostgresBorrowed | None = None

    @contextmanager
    def lend(self, link: Link) -> Iterator[Loan]:
        """Inside the write transaction of `link`; what raises in the block undoes the handler's writes.

        Raises TransactionLost when the handler has ended the transaction itself.
        """
        borrowed = self._borrowed = PostgresBorrowed(link.connection)
        link.defer_text("SET LOCAL idle_in_transaction_session_timeout TO 0")
        link.execute(f"{_AS_USUAL}; SAVEPOINT {SAVEPOINT}")
        try:
            with self._find_engine().connect() as lent:
                try:
                    yield Loan(lent, borrowed)
                    _demand_unbroken(link)
                finally:
                    borrowed.end()
        except BaseException:
            _end(link, f"{ROLLBACK}; {RELEASE}")
            raise
        _end(link, RELEASE)

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
