"""The store on one SQLite file: WAL, fully durable, one writer connection a process, readers beside it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from orchestrator.errors import StoreError
from orchestrator.store.doorbell import Doorbell
from orchestrator.store.sql import SCHEMA, STATEMENTS
from orchestrator.store.sqlite_reading import SqliteReading
from orchestrator.store.sqlite_writing import SqliteTransaction
from orchestrator.store.times import to_micros
from orchestrator.store.turnstile import Turnstile

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x0F10C4A7
"""Marks our files (`PRAGMA application_id`)."""
_BUSY_SECONDS = 30.0
_POLL_SECONDS = 0.05


class SqliteStore:
    """See contract.Store."""

    def __init__(self, path: str) -> None:
        self.url = f"sqlite:///{path}"
        self.path = os.path.abspath(path)
        self._turn = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._is_closed = False
        with _store_errors(self.path):
            self._writer = _connect(self.path)
            try:
                self._turnstile = Turnstile(self.path)
                with self._turnstile:
                    _install(self._writer, self.path)
            except BaseException:
                self._writer.close()
                raise
        self._doorbell = Doorbell(self.path)
        self._data_version = 0
        self._epoch = 0
        self._last_run = 0

    # --- Transactions ---

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        with self._turn, _store_errors(self.path), self._turnstile:
            self._require_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                transaction = self._begin()
                yield transaction
                self._writer.execute("COMMIT")
            except BaseException:
                self._data_version = 0  # what was learned inside is void
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise
            self._last_run = transaction.last_run

    def _begin(self) -> SqliteTransaction:
        version: int = self._writer.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self._epoch += 1
            self._last_run = self._writer.execute(STATEMENTS["last_run"]).fetchone()[0]
        return SqliteTransaction(self._writer, epoch=self._epoch, last_run=self._last_run)

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        with _store_errors(self.path):
            self._require_open()
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = _connect(self.path)
            try:
                reader.execute("BEGIN")
                yield SqliteReading(reader)
            finally:
                reader.execute("ROLLBACK")
                self._readers.append(reader)

    # --- Waking other processes ---

    def ring(self) -> None:
        self._doorbell.ring()

    def listen(self, on_ring: Callable[[], None]) -> Callable[[], None]:
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


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _install(connection: sqlite3.Connection, path: str) -> None:
    """Check that the file is ours; make the tables in a new one."""
    application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application_id == 0:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreError(
                f"{path} is a SQLite database of another program; name another file with --db", path=path
            )
        _create(connection)
        return
    if application_id != _APPLICATION_ID:
        raise StoreError(
            f"{path} is a SQLite database of another program; name another file with --db", path=path
        )
    version: int = connection.execute(STATEMENTS["installed_version"]).fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema version {version}, this release knows {SCHEMA_VERSION}; "
            f"update orchestrator, or name another file with --db",
            path=path,
        )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        for statement in SCHEMA:
            connection.execute(statement)
        installed_at = to_micros(datetime.now(UTC))
        connection.execute(STATEMENTS["insert_schema_version"], (SCHEMA_VERSION, installed_at))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _store_errors(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_explain(error)}", path=path) from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}", path=path) from error


def _explain(error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text:
        return "this file is not a SQLite database; name another file with --db"
    if "unable to open" in text:
        return "cannot be opened; does its directory exist, and may you write there?"
    if "readonly" in text:
        return "cannot be written; check the permissions of the file and its directory"
    if "locked" in text:
        return "another program has held it locked for too long"
    return text


def _poll(path: str, on_ring: Callable[[], None]) -> Callable[[], None]:
    """Ring whenever somebody has committed; for places without unix sockets."""
    ended = threading.Event()

    def look() -> None:
        connection = _connect(path)
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
