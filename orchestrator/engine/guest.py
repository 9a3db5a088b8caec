"""Acting on runs inside a transaction of the application: both are committed together, or neither is."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.engine.arguments import another
from orchestrator.engine.engine import Engine
from orchestrator.engine.faults import Faults
from orchestrator.errors import StoreError, UsageError
from orchestrator.store.contract import Store
from orchestrator.store.opening import is_memory
from orchestrator.store.postgres_url import is_postgres
from orchestrator.store.sealing import SealedStore
from orchestrator.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from orchestrator.store.sqlite_guest import Connection


def guest_of(host: Engine, connection: Connection) -> Engine:
    """An engine that writes through the caller's connection; it has no worker and keeps nothing in memory.

    Raises UsageError for a connection to something else than the host's database.
    """
    if not hasattr(connection, "dialect"):
        raise another("a connection", "one of SQLAlchemy", connection)
    hosted = host.store.plain if isinstance(host.store, SealedStore) else host.store
    return Engine(
        _inside(host, hosted, connection),
        clock=host.clock,
        faults=Faults(None),
        attribute_store=host.attribute_store,
        definitions=host.definitions,
        bodies=host.bodies if hosted is not host.store else None,
        remembered_count=0,
    )


def _inside(host: Engine, hosted: Store, connection: Connection) -> Store:
    if isinstance(hosted, SqliteStore):
        from orchestrator.store.sqlite_guest import SqliteGuest

        def call_workers() -> None:
            wake = partial(_wake_after_commit, host)
            threading.Thread(target=wake, name="guest-commit", daemon=True).start()

        return SqliteGuest(connection, hosted.path, call_workers)
    if is_postgres(hosted.url):
        from orchestrator.store.postgres import PostgresStore
        from orchestrator.store.postgres_guest import PostgresGuest

        if isinstance(hosted, PostgresStore):
            return PostgresGuest(connection, hosted)
    if is_memory(hosted.url):
        raise UsageError("runs in memory cannot be part of another transaction: keep them in a file for that")
    raise UsageError("this client is already inside a transaction")


def _wake_after_commit(host: Engine) -> None:
    """The caller is about to commit: whoever gets the write lock comes after that."""
    try:
        with host.store.writing():
            pass
    except StoreError:
        return  # closed meanwhile, or locked for very long: workers look again by themselves
    host.wake()
