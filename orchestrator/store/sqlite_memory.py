"""The store in the memory of one process, for tests: gone when the last one who opened it has closed it.

One connection behind a lock: whoever reads or writes has the database for itself meanwhile, as SQLite in
memory has no snapshots that others could read. A thread that reads within its own write transaction sees what
it has written.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import datetime

from orchestrator.core.pauses import NO_PAUSES
from orchestrator.errors import StoreError
from orchestrator.store.absence import absent
from orchestrator.store.queues import NO_QUEUES
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sqlite_file import connect, explain, install
from orchestrator.store.sqlite_lending import Lender
from orchestrator.store.sqlite_reading import SqliteReading, read_pauses, read_queues
from orchestrator.store.sqlite_writing import SqliteTransaction

_keys = itertools.count(1)


class _Database:
    """What stores of one name share."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self.connection = connect(":memory:")
        install(self.connection, "the database in memory")
        self.commits = 0
        self.listeners: dict[int, tuple[MemoryStore, Callable[[], None]]] = {}
        self.opened_count = 0


_named: dict[str, _Database] = {}
_lock = threading.Lock()


class MemoryStore:
    """See contract.Store. `name`: stores of one name are one; without, it is nobody else's."""

    has_server = False

    def __init__(self, url: str, name: str | None = None, *, makes: bool = True) -> None:
        """`makes` False: raises NotFound unless there is one of that name."""
        self.url = url
        self._name = name
        with _lock:
            self._database = _find(name, makes=makes)
            self._database.opened_count += 1
        self._lender = Lender()
        self._is_closed = False
        self._commits: int | None = None
        """Those of the database when this store wrote last; None: what it knew is void."""
        self._epoch = 0
        self._last_run = 0
        self._pauses = NO_PAUSES
        self._queues = NO_QUEUES
        self._alive: set[int] = set()

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        with self._held() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = self._begin(connection)
                yield transaction
                connection.execute("COMMIT")
            except BaseException:
                self._commits = None
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._database.commits += 1
            self._commits = self._database.commits
            self._last_run, self._pauses = transaction.last_run, transaction.pauses
            self._queues = transaction.queues
        if transaction.is_ring_due:
            self.ring()

    def _begin(self, connection: sqlite3.Connection) -> SqliteTransaction:
        if self._commits != self._database.commits:
            self._epoch += 1
            self._last_run = connection.execute(STATEMENTS["last_run"]).fetchone()[0]
            self._pauses = read_pauses(connection)
            self._queues = read_queues(connection)
            self._alive.clear()
        return SqliteTransaction(
            connection,
            self._lender,
            epoch=self._epoch,
            last_run=self._last_run,
            pauses=self._pauses,
            queues=self._queues,
            alive=self._alive,
        )

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        with self._held() as connection:
            yield SqliteReading(connection)

    def vacuum(self) -> None:
        with self._held() as connection:
            self._commits = None
            connection.execute("VACUUM")

    def sizes(self) -> tuple[int, int]:
        with self._held() as connection:
            page_size: int = connection.execute("PRAGMA page_size").fetchone()[0]
            return page_size * connection.execute("PRAGMA page_count").fetchone()[0], 0

    def clock_time(self) -> datetime | None:
        return None

    def ring(self) -> None:
        for store, on_ring in list(self._database.listeners.values()):
            if store is not self:
                on_ring()

    def listen(
        self, on_ring: Callable[[], None], on_call: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        key = next(_keys)
        self._database.listeners[key] = (self, on_ring)
        return lambda: self._database.listeners.pop(key, None) and None

    def close(self) -> None:
        with _lock, self._database.turn:
            if self._is_closed:
                return
            self._is_closed = True
            self._database.opened_count -= 1
            if self._database.opened_count == 0:
                self._database.connection.close()
                if self._name is not None:
                    del _named[self._name]

    @contextlib.contextmanager
    def _held(self) -> Iterator[sqlite3.Connection]:
        with self._database.turn:
            if self._is_closed:
                raise StoreError(f"{self.url} was closed by this program")
            try:
                yield self._database.connection
            except sqlite3.Error as error:
                raise StoreError(f"{self.url}: {explain(error)}") from error


def _find(name: str | None, *, makes: bool) -> _Database:
    if name is None:
        if not makes:
            raise absent("a database in memory is empty when it is opened", "sqlite://")
        return _Database()
    if name not in _named:
        if not makes:
            raise absent(f"there is no database `{name}` in the memory of this process", name)
        _named[name] = _Database()
    return _named[name]
