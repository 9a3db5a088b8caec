"""The store on PostgreSQL: many workers on many machines, each with one connection that writes.

Several processes commit at the same time; postgres_writing.py says how they keep out of each other's way.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial

import psycopg

from orchestrator.errors import StoreConflict, StoreError
from orchestrator.store.postgres_bell import CALL, Bell
from orchestrator.store.postgres_database import demand_release
from orchestrator.store.postgres_fate import (
    LOOK_UPS,
    Stray,
    is_lost,
    patiently,
    unknown,
    wait_for_end,
    was_committed,
)
from orchestrator.store.postgres_lending import Lender
from orchestrator.store.postgres_link import Dialect, Link, connect, store_error
from orchestrator.store.postgres_memory import Memory
from orchestrator.store.postgres_reading import PostgresReading
from orchestrator.store.postgres_url import Address
from orchestrator.store.postgres_wire import Statement
from orchestrator.store.postgres_writing import PostgresTransaction, RunNumbers
from orchestrator.store.reading_room import ReadingRoom
from orchestrator.store.times import from_micros
from orchestrator.store.writing import Translated, Writing

_BEGIN_READING = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_COMMIT, _ROLLBACK = Statement("COMMIT"), Statement("ROLLBACK")


class PostgresStore:
    """See contract.Store."""

    has_server = True

    def __init__(self, address: Address, *, makes: bool = True) -> None:
        """`makes` False: raises NotFound where there is none."""
        self.url = address.shown
        self.address = address
        self.dialect = Dialect(address.schema)
        self._errors = Translated(partial(_translated, self.url))
        self._turn = threading.Lock()
        self._writer: Link | None = None
        self._readers: list[Link] = []
        self._reading_room = ReadingRoom()
        self._is_closed = False
        self._epochs = itertools.count(1)
        self._definitions_epoch = 1
        self._begin = Statement(f"BEGIN ISOLATION LEVEL {address.isolation}")
        self._memory = Memory()
        self._wanted: frozenset[int] = frozenset()
        self._strays: list[Stray] = []
        self._lender = Lender()
        self._numbers = RunNumbers(self.dialect.quoted)
        self.bell = Bell(address, uuid.uuid4().hex)
        with self._errors:
            self._writer = self._connect(is_writer=True)
            try:
                demand_release(self._writer, self.dialect, self.url, makes=makes)
            except BaseException:
                self._writer.close()
                raise

    # --- Transactions ---

    def writing(self) -> AbstractContextManager[PostgresTransaction]:
        return Writing(self, self._errors)

    def begin(self) -> PostgresTransaction:
        """For `writing`; `commit` or `roll_back` must follow."""
        self._turn.acquire()
        try:
            link = self._find_writer()
            if self._strays:
                self._settle_strays(link)
            return PostgresTransaction(
                link,
                self.dialect.schema,
                self._lender,
                begin=self._begin,
                memory=self._memory,
                epoch=next(self._epochs),
                definitions_epoch=self._definitions_epoch,
                numbers=self._numbers,
                wanted=self._wanted,
            )
        except BaseException:
            self._turn.release()
            raise

    def commit(self, transaction: PostgresTransaction) -> None:
        try:
            self._commit(transaction.link, transaction)
        except BaseException as error:
            self.roll_back(transaction, error)
            raise
        try:
            self._wanted = frozenset()
            self._strays.clear()  # what was done again has the versions that they would need
            self._memory.note_commit(transaction)
        finally:
            self._turn.release()

    def roll_back(self, transaction: PostgresTransaction, error: BaseException) -> None:
        """Raises StoreConflict when the connection was lost: nothing of it was stored."""
        link = transaction.link
        try:
            self._roll_back(link, transaction, error)
            if isinstance(error, psycopg.OperationalError) and link.is_broken:
                self._find_writer()
                raise StoreConflict(f"{self.url}: the connection was lost, done again: {error}") from error
        finally:
            self._turn.release()

    def _commit(self, link: Link, transaction: PostgresTransaction) -> None:
        if transaction.is_ring_due:
            link.defer_ring(self.bell.channel, self.bell.token)
        if transaction.is_call_due:
            link.defer("notify", self.bell.channel, self.bell.token + CALL)
        transaction.make_sure()
        if not transaction.has_begun:
            link.forget()
            return
        if not transaction.is_whole_message:
            link.defer_text(_COMMIT)
        try:
            link.flush()
        except psycopg.OperationalError as error:
            if not is_lost(link, error) or not self._was_committed(link, transaction):
                raise

    def _was_committed(self, lost: Link, transaction: PostgresTransaction) -> bool:
        """The connection was lost while it was being committed. Raises StoreError when nobody can tell."""
        for _ in range(LOOK_UPS):
            link = self._find_writer_for_look_up()
            try:
                if transaction.number is None:
                    wait_for_end(link, lost.fence, self.url)
                is_stored = was_committed(link, transaction.number, transaction.proof, self.url)
                if not is_stored and transaction.number is None and transaction.proof is not None:
                    self._strays.append(Stray(lost.fence, transaction.proof))
                return is_stored
            except psycopg.OperationalError as error:
                if not is_lost(link, error):
                    break
        raise unknown(self.url)

    def _settle_strays(self, link: Link) -> None:
        """Before anything is done again: a connection may have been lost since, and its locks with it."""
        try:
            for stray in self._strays:
                stray.settle(link, self.url)
        except StoreError:
            self._strays.clear()  # what was to be done again is told as unknown
            raise

    def _find_writer_for_look_up(self) -> Link:
        """Whoever cannot ask what became of a commit must not take it for undone: raises StoreError."""
        try:
            return self._find_writer()
        except psycopg.Error as error:
            raise unknown(self.url) from error

    def _roll_back(self, link: Link, transaction: PostgresTransaction, error: BaseException) -> None:
        if isinstance(error, psycopg.errors.DivisionByZero | psycopg.IntegrityError):
            self._definitions_epoch += 1  # one may have been pruned by others
        self._wanted = frozenset(transaction.wanted)
        self._memory.is_wary = True
        link.forget()
        try:
            if link.is_begun:
                link.execute("ROLLBACK")
        except psycopg.Error:
            link.close()

    def _find_writer(self) -> Link:
        self._require_open()
        if self._writer is None or self._writer.is_broken:
            self._writer = patiently(partial(self._connect, is_writer=True))
        return self._writer

    @contextlib.contextmanager
    def reading(self) -> Iterator[PostgresReading]:
        with self._errors, self._reading_room.seat():
            link = self._find_reader()
            try:
                link.defer_text(_BEGIN_READING)
                yield PostgresReading(link, self.dialect.schema)
            finally:
                self._end_reading(link)

    def _find_reader(self) -> Link:
        self._require_open()
        while True:
            try:
                link = self._readers.pop()
            except IndexError:
                return patiently(self._connect)
            if not link.has_news:
                return link
            link.close()

    def _end_reading(self, link: Link) -> None:
        link.forget()
        try:
            if link.is_begun:
                link.end(_ROLLBACK)
        except psycopg.Error:
            link.close()
        if not link.is_broken:
            self._readers.append(link)

    # --- Upkeep ---

    def vacuum(self) -> None:
        with self._turn, self._errors:
            link = self._find_writer()
            for table in self.dialect.tables:
                link.execute(f"VACUUM (FULL, ANALYZE) {table}")

    def sizes(self) -> tuple[int, int]:
        with self._errors, self.reading() as reading:
            return reading.used_bytes(), 0

    def clock_time(self) -> datetime | None:
        with self._turn, self._errors:
            return from_micros(self._find_writer().all("clock_time")[0][0])

    # --- Waking other processes ---

    def ring(self) -> None:
        with self._turn, self._errors:
            self._find_writer().all("notify", self.bell.channel, self.bell.token)

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        with self._errors:
            return self.bell.listen(on_ring, on_call)

    def close(self) -> None:
        with self._turn:
            if self._is_closed:
                return
            self._is_closed = True
            if self._writer is not None:
                self._writer.close()
            while self._readers:
                self._readers.pop().close()

    def _connect(self, *, is_writer: bool = False) -> Link:
        return connect(self.address, self.dialect, is_writer=is_writer)

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.url} was closed by this program")


def _translated(place: str, error: BaseException) -> StoreError | None:
    return store_error(error, place) if isinstance(error, psycopg.Error) else None


def upgrade(address: Address, *, is_forced: bool = False) -> tuple[int, int]:
    """Bring the tables to this release; made when they are not there. Schema version before and after."""
    dialect = Dialect(address.schema)
    try:
        link = connect(address, dialect)
        try:
            return demand_release(link, dialect, address.shown, upgrades=True, is_forced=is_forced)
        finally:
            link.close()
    except psycopg.Error as error:
        raise store_error(error, address.shown) from error
