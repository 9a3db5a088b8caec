"""The lease of one worker: begun, renewed, lost and begun anew, ended; what it takes over from dead ones."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from orchestrator.engine import journal, leases
from orchestrator.engine.dispatch import Dispatcher
from orchestrator.engine.engine import Engine
from orchestrator.errors import StoreError
from orchestrator.store.contract import Transaction

log = logging.getLogger("orchestrator.engine")
_AGAIN = timedelta(milliseconds=500)
"""After the database failed at it."""


class Membership:
    """`serves`: what the worker is registered with (leases.py)."""

    def __init__(self, engine: Engine, dispatcher: Dispatcher, serves: Callable[[], str]) -> None:
        self.renewed_at: datetime | None = None
        """None: there is no lease."""
        self._engine = engine
        self._dispatcher = dispatcher
        self._serves = serves
        self._due_at: datetime | None = None
        self._pending = (0, engine.clock.now())
        """Worker and time, as they are being stored."""

    def begin(self) -> None:
        """Raises StoreError."""
        self._dispatcher.worker = 0
        self._engine.committer.exclusively(self._register, "lease", self._note_stored)

    def renew_now(self) -> None:
        """Others have taken this worker for dead."""
        self._expect(self._engine.clock.now())

    def renew_if_due(self) -> None:
        """Stay alive; take over from those who are not."""
        if self._due_at is None:
            return
        now = self._engine.clock.now()
        was_turned_back = self.renewed_at is not None and now < self.renewed_at
        if now < self._due_at and not was_turned_back:
            self._expect(self._due_at)
            return
        try:
            self._engine.set_clock()
            self._engine.committer.exclusively(self._renew, "lease", self._note_stored)
        except StoreError as error:
            worker = self._dispatcher.worker
            log.warning("worker %d could not renew its lease, trying again: %s", worker, error)
            self._expect(self._engine.clock.now() + _AGAIN)

    def end(self) -> None:
        """Whatever is left is free again; results of handlers left behind are ignored. Raises StoreError."""
        self.renewed_at = None
        self._engine.committer.exclusively(self._sign_off, "lease")

    def _expect(self, at: datetime) -> None:
        self._due_at = at
        self._dispatcher.watch.need_by(at)

    # --- In a transaction ---

    def _register(self, transaction: Transaction, now: datetime) -> None:
        worker = leases.register(transaction, now, self._serves())
        self._take_over(transaction, now, worker)

    def _renew(self, transaction: Transaction, now: datetime) -> None:
        worker = self._dispatcher.worker
        if not transaction.renew_worker(worker, now + leases.ALIVE_FOR):
            worker = leases.register(transaction, now, self._serves())
        self._take_over(transaction, now, worker)

    def _take_over(self, transaction: Transaction, now: datetime, worker: int) -> None:
        if freed_count := leases.take_over(transaction, now, worker):
            journal.note_taken_over(worker, freed_count)
            transaction.ring()  # there may be more than this worker has room for
        self._pending = worker, now

    def _note_stored(self) -> None:
        """Not earlier: what is leased to a worker that is not stored would never be free again."""
        worker, now = self._pending
        lost, self._dispatcher.worker = self._dispatcher.worker, worker
        if lost not in (0, worker):
            journal.note_worker_lost(lost, worker)
            # What was meant for the old one is nobody's.
            self._dispatcher.note_work(has_more=True, due_at=None)
        self.renewed_at = now
        self._expect(now + leases.RENEW_EVERY)

    def _sign_off(self, transaction: Transaction, now: datetime) -> None:
        transaction.bury_worker(self._dispatcher.worker)
        for entry in self._engine.committer.runs.cache:
            entry.held.clear()
