"""Acting on runs inside a transaction of the application: both are committed together, or neither is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from orchestrator.engine.engine import Engine
from orchestrator.engine.faults import Faults
from orchestrator.errors import StoreError, UsageError
from orchestrator.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from orchestrator.store.sqlite_guest import Connection


def guest_of(host: Engine, connection: Connection) -> Engine:
    """An engine that writes through the caller's connection; it has no worker and keeps nothing in memory.

    Raises UsageError for a connection to something else than the host's database.
    """
    if not isinstance(host.store, SqliteStore):
        raise UsageError("this client is already inside a transaction")
    from orchestrator.store.sqlite_guest import SqliteGuest

    def call_workers() -> None:
        threading.Thread(target=_wake_after_commit, args=(host,), name="guest-commit", daemon=True).start()

    store = SqliteGuest(connection, host.store.path, call_workers)
    return Engine(
        store,
        clock=host.clock,
        faults=Faults(None),
        attribute_store=host.attribute_store,
        definitions=host.definitions,
        remembered_count=0,
    )


def _wake_after_commit(host: Engine) -> None:
    """The caller is about to commit: whoever gets the write lock comes after that."""
    try:
        with host.store.writing():
            pass
    except StoreError:
        return  # closed meanwhile, or locked for very long: workers look again by themselves
    host.wake()
