"""A store inside a transaction of its caller: what is written becomes durable, and visible, when they commit.

The caller's SQLAlchemy connection must be to the very database, through psycopg. Each of our transactions is
a savepoint of theirs. Runs that it has looked at stay locked until they commit.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.postgres_lending import Lender
from orchestrator.store.postgres_link import Link, store_error
from orchestrator.store.postgres_memory import Memory
from orchestrator.store.postgres_reading import PostgresReading
from orchestrator.store.postgres_wire import Statement
from orchestrator.store.postgres_writing import PostgresTransaction, RunNumbers

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SAVEPOINT = "orchestrator_guest"
_BEGIN = Statement(f"SAVEPOINT {_SAVEPOINT}", is_kept=False)
_TOKEN = "guest"
"""Of no process: the host too hears of what a guest has done."""
_epochs = itertools.count(-2, -1)
"""Never one of a store's own: what was learned inside is not to be trusted outside."""


class PostgresGuest:
    """See contract.Store. Others are woken by the caller's commit."""

    has_server = True

    def __init__(self, connection: Connection, host: PostgresStore) -> None:
        self.url = host.url
        self._connection = connection
        self._dialect = host.dialect
        self._channel = host.bell.channel
        self._lender = Lender()
        self._numbers = RunNumbers(host.dialect.quoted)
        if connection.dialect.name != "postgresql":
            raise UsageError(f"the connection is to {connection.dialect.name}, the runs are in {self.url}")
        with self._errors(), host.reading() as reading:
            if reading.identity() != PostgresReading(self._begin(), host.dialect.schema).identity():
                raise UsageError(f"the connection is to another database, the runs are in {self.url}")

    @contextlib.contextmanager
    def writing(self) -> Iterator[PostgresTransaction]:
        with self._errors():
            link = self._begin()
            epoch = next(_epochs)
            try:
                transaction = PostgresTransaction(
                    link,
                    self._dialect.schema,
                    self._lender,
                    begin=_BEGIN,
                    memory=Memory(),
                    epoch=epoch,
                    definitions_epoch=epoch,
                    numbers=self._numbers,
                )
                yield transaction
                if transaction.is_ring_due:
                    link.defer("notify", self._channel, _TOKEN)
                link.defer_text(f"RELEASE SAVEPOINT {_SAVEPOINT}")
                link.flush()
            except BaseException:
                link.forget()
                with contextlib.suppress(psycopg.Error):
                    link.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}; RELEASE SAVEPOINT {_SAVEPOINT}")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[PostgresReading]:
        with self._errors():
            yield PostgresReading(self._begin(), self._dialect.schema)

    def clock_time(self) -> datetime | None:
        return None

    def ring(self) -> None:
        with self._errors():
            self._begin().all("notify", self._channel, _TOKEN)

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        raise UsageError("nothing can be waited for inside a transaction: commit it first")

    def vacuum(self) -> None:
        raise UsageError("a transaction cannot vacuum its database")

    def sizes(self) -> tuple[int, int]:
        with self.reading() as reading:
            return reading.used_bytes(), 0

    def close(self) -> None:
        """The connection is the caller's."""

    def _begin(self) -> Link:
        """The caller's transaction, begun if need be."""
        self._connection.exec_driver_sql("SELECT 1").close()  # SQLAlchemy begins its transaction
        driver: Any = self._connection.connection.dbapi_connection
        if not isinstance(driver, psycopg.Connection):
            raise UsageError(f"a connection through psycopg is needed, not one of {type(driver).__module__}")
        if driver.info.transaction_status is not TransactionStatus.INTRANS:
            raise UsageError("the connection is in autocommit mode; give one that is in a transaction")
        return Link(driver, self._dialect)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except psycopg.Error as error:
            raise store_error(error, self.url) from error
        except DBAPIError as error:
            raise StoreError(f"{self.url}: {error.orig}") from error
