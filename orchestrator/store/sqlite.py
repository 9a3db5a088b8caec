"""The store on one SQLite file: WAL, fully durable, one writer connection a process, readers beside it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial

from orchestrator.core.pauses import NO_PAUSES
from orchestrator.errors import StoreError
from orchestrator.store.doorbell import Doorbell
from orchestrator.store.queues import NO_QUEUES
from orchestrator.store.reading_room import ReadingRoom
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sqlite_file import Upgrade, connect, explain, install
from orchestrator.store.sqlite_lending import Lender
from orchestrator.store.sqlite_reading import SqliteReading, read_pauses, read_queues
from orchestrator.store.sqlite_upkeep import vacuum
from orchestrator.store.sqlite_writing import SqliteTransaction
from orchestrator.store.turnstile import Turnstile
from orchestrator.store.writing import Translated, Writing

_POLL_SECONDS = 0.05


class SqliteStore:
    """See contract.Store."""

    has_server = False

    def __init__(self, path: str, *, makes: bool = True) -> None:
        """`makes` False: raises NotFound where there is none."""
        self.url = f"sqlite:///{path}"
        self.path = os.path.abspath(path)
        self._errors = Translated(partial(_store_error, self.path))
        self._turn = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._reading_room = ReadingRoom()
        self._is_closed = False
        with self._errors:
            self._writer = connect(self.path)
            try:
                self._turnstile = Turnstile(self.path)
                with self._turnstile:
                    install(self._writer, self.path, makes=makes)
            except BaseException:
                self._writer.close()
                raise
        self._cursor = self._writer.cursor()
        self._doorbell = Doorbell(self.path)
        self._lender = Lender()
        self._data_version = 0
        self._epoch = 0
        self._last_run = 0
        self._pauses = NO_PAUSES
        self._queues = NO_QUEUES
        self._alive: set[int] = set()

    # --- Transactions ---

    def writing(self) -> AbstractContextManager[SqliteTransaction]:
        return Writing(self, self._errors)

    def begin(self) -> SqliteTransaction:
        """For `writing`; `commit` or `roll_back` must follow."""
        self._enter()
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            return self._transaction()
        except BaseException:
            self._end_without()
            raise

    def commit(self, transaction: SqliteTransaction) -> None:
        try:
            self._cursor.execute("COMMIT")
        except BaseException:
            self._end_without()
            raise
        self._last_run, self._pauses = transaction.last_run, transaction.pauses
        self._queues = transaction.queues
        self._leave()
        if transaction.is_ring_due:
            self.ring()

    def roll_back(self, transaction: SqliteTransaction, error: BaseException) -> None:
        self._end_without()

    def _end_without(self) -> None:
        self._data_version = 0  # what was learned inside is void
        with contextlib.suppress(sqlite3.Error):
            self._cursor.execute("ROLLBACK")
        self._leave()

    def _enter(self) -> None:
        """One thread, and one process, writes at a time."""
        self._turn.acquire()
        try:
            self._require_open()  # before the turnstile is asked: its file handles are closed with the store
            self._turnstile.enter()
        except BaseException:
            self._turn.release()
            raise

    def _leave(self) -> None:
        try:
            self._turnstile.leave()
        finally:
            self._turn.release()

    def _transaction(self) -> SqliteTransaction:
        version: int = self._cursor.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self._epoch += 1
            self._last_run = self._cursor.execute(STATEMENTS["last_run"]).fetchone()[0]
            self._pauses = read_pauses(self._writer)
            self._queues = read_queues(self._writer)
            self._alive.clear()
        return SqliteTransaction(
            self._writer,
            self._lender,
            epoch=self._epoch,
            last_run=self._last_run,
            pauses=self._pauses,
            queues=self._queues,
            alive=self._alive,
            cursor=self._cursor,
        )

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        with self._errors, self._reading_room.seat():
            self._require_open()
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = connect(self.path)
            try:
                reader.execute("BEGIN")
                yield SqliteReading(reader)
            finally:
                reader.execute("ROLLBACK")
                self._readers.append(reader)

    # --- Upkeep ---

    def vacuum(self) -> None:
        with self._errors:
            self._enter()
            try:
                self._data_version = 0
                vacuum(self._writer)
            finally:
                self._leave()

    def sizes(self) -> tuple[int, int]:
        log = f"{self.path}-wal"
        return os.path.getsize(self.path), os.path.getsize(log) if os.path.exists(log) else 0

    # --- Waking other processes ---

    def clock_time(self) -> datetime | None:
        return None

    def ring(self) -> None:
        self._doorbell.ring()

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        try:
            return self._doorbell.listen(on_ring)
        except OSError:
            return _poll(self.path, on_ring)

    def close(self) -> None:
        with self._turn:
            if self._is_closed:
                return
            self._is_closed = True
            while self._readers:
                self._readers.pop().close()
            self._writer.close()
            self._turnstile.close()
            self._doorbell.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.path} was closed by this program")


def upgrade(path: str, *, is_forced: bool = False) -> Upgrade:
    """Bring the file to the schema of this release; made when it is not there. Raises StoreError."""
    path = os.path.abspath(path)
    with Translated(partial(_store_error, path)), contextlib.closing(connect(path)) as connection:
        turnstile = Turnstile(path)
        try:
            with turnstile:
                return install(connection, path, upgrades=True, is_forced=is_forced)
        finally:
            turnstile.close()


def _store_error(path: str, error: BaseException) -> StoreError | None:
    if isinstance(error, sqlite3.Error):
        return StoreError(f"{path}: {explain(error)}", path=path)
    if isinstance(error, OSError):
        return StoreError(f"{path}: {error.strerror or error}", path=path)
    return None


def _poll(path: str, on_ring: Callable[[], None]) -> Callable[[], None]:
    """Ring whenever somebody has committed; for places without unix sockets."""
    ended = threading.Event()

    def look() -> None:
        connection = connect(path)
        seen = None
        while not ended.wait(_POLL_SECONDS):
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            if version != seen:
                seen = version
                on_ring()
        connection.close()

    thread = threading.Thread(target=look, name="store-poll", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join(1)

    return end
