"""What lending a write transaction's connection to a handler has in common on both databases."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.errors import StoreError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection

SAVEPOINT = "orchestrator_handler"
ROLLBACK = f"ROLLBACK TO SAVEPOINT {SAVEPOINT}"
RELEASE = f"RELEASE SAVEPOINT {SAVEPOINT}"
_INTERRUPT_EVERY = 0.02
"""Seconds."""

Lent = TypeVar("Lent", bound=Any)
"""The driver's connection."""


class Loan:
    """`connection` works until the loan is ended or revoked; then it refuses everything."""

    def __init__(self, connection: Connection, borrowed: Borrowed[Any]) -> None:
        self.connection = connection
        self._borrowed = borrowed

    def revoke(self) -> None:
        """Take it back from a handler that still runs; its present statement is interrupted."""
        self._borrowed.revoke()


class Borrowed(ABC, Generic[Lent]):
    """Stands for the driver's connection, as SQLAlchemy calls it; one statement at a time."""

    def __init__(self, connection: Lent) -> None:
        self._connection = connection
        self._in_use = threading.RLock()
        self._is_open = True

    @contextmanager
    def used(self) -> Iterator[Lent]:
        with self._in_use:
            if not self._is_open:
                raise StoreError("the step of this connection is over: its commit is made, or was given up")
            yield self._connection

    def end(self) -> None:
        self._is_open = False

    def revoke(self) -> None:
        self._is_open = False
        while not self._in_use.acquire(timeout=_INTERRUPT_EVERY):
            self._interrupt()  # once is not enough: a statement may be about to begin
        self._in_use.release()
        self.end()

    @abstractmethod
    def _interrupt(self) -> None: ...

    def commit(self) -> None:
        raise UsageError("this connection is part of its step's commit and is committed with it, not before")

    def rollback(self) -> None:
        """Back to where the handler began; later statements are part of the commit again."""
        with self._in_use:
            if self._is_open:
                self._connection.execute(ROLLBACK)

    def close(self) -> None:
        """It is the store's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class BorrowedCursor:
    """Stands for one of its cursors."""

    def __init__(self, borrowed: Borrowed[Any], cursor: Any) -> None:
        self._borrowed = borrowed
        self._cursor = cursor

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
