"""What clients and the worker of one process share for one store: memory, the committer, the doorbell."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from orchestrator.clock import Clock, SharedClock
from orchestrator.engine.arguments import another
from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import RunCache
from orchestrator.engine.commit import Committer
from orchestrator.engine.definitions import Definitions
from orchestrator.engine.dispatch import Dispatcher
from orchestrator.engine.faults import Faults
from orchestrator.engine.inside import demand_outside
from orchestrator.engine.journal import Journal
from orchestrator.engine.lookout import Lookout
from orchestrator.engine.projection import Projector, Synced
from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Receipt, Wish
from orchestrator.engine.waiting import Waiting
from orchestrator.errors import UsageError
from orchestrator.store.attribute_store import AttributeStore
from orchestrator.store.bodies import PLAIN, Bodies
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.sealing import SealedStore

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from orchestrator.engine.tracing import Tracing

log = logging.getLogger("orchestrator.engine")
ATTRIBUTE_STORE = "ORCHESTRATOR_ATTRIBUTE_STORE"


class Engine:
    """Give the same one to the clients and the worker of a process."""

    def __init__(
        self,
        store: str | Store,
        *,
        clock: Clock | None = None,
        faults: Faults | None = None,
        attribute_store: str | AttributeStore | None = None,
        definitions: Definitions | None = None,
        tracing: Tracing | None = None,
        bodies: Bodies | None = None,
        remembered_count: int = 1000,
    ) -> None:
        """`attribute_store`: database URL for synced attributes; else of ORCHESTRATOR_ATTRIBUTE_STORE.

        `clock`: the machine's, put right by the database's, unless another one is given.
        `remembered_count`: runs that are kept in memory. `tracing`: makes traces of runs (tracing.py).
        `bodies`: how values are encoded, and where large ones are kept (store/bodies.py).
        """
        _demand_parts(bodies, tracing, attribute_store)
        self.bodies = bodies or PLAIN
        opened = open_store(store) if isinstance(store, str) else _demand_store(store)
        self.store: Store = opened if bodies is None else SealedStore(opened, bodies)
        self.clock: Clock = clock or SharedClock()
        self.set_clock()
        self.definitions = definitions or Definitions()
        self.waiting = Waiting()
        self._lookout = Lookout(self.store, self.waiting)
        self.dispatcher: Dispatcher | None = None
        self.attribute_store = attribute_store or os.environ.get(ATTRIBUTE_STORE)
        self.projector: Projector | None = None
        """Of this process's worker, if there is an attribute store."""
        self.journal = Journal()
        self.tracing = tracing
        if self.bodies.is_secret:
            self.journal.shows_messages = False
            if tracing is not None:
                tracing.shows_messages = False
        self.on_batch: Callable[[Batch], None] | None = None
        """Called after each commit, with the commit lock held: be quick."""
        runs = Runs(RunCache(remembered_count), self.definitions)
        self.committer = Committer(self.store, runs, self.clock, faults or Faults.from_environment())
        self.committer.on_commit = self._note_commit
        self.committer.is_ring_due = self._is_ring_due
        self.committer.synced_of = Synced(has_store=bool(self.attribute_store)).of
        self._end_listening: Callable[[], None] | None = None
        self._leader: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def submit(self, wish: Wish, *, leads: bool = True) -> None:
        """`leads` False: nobody waits for it, so others may commit it with what there is; for many at once.

        Raises UsageError inside of a commit.
        """
        wish.receipt.is_awaited = leads
        self.enter(wish)
        if leads:
            self.lead(wish.receipt)
        elif self.dispatcher is not None:
            self.dispatcher.nudge()
        else:
            self.lead()

    def enter(self, wish: Wish) -> None:
        """It is part of the next commit, whoever leads that. Raises UsageError inside of a commit."""
        demand_outside()
        if self.tracing is not None:
            self.tracing.note_caller(wish)
        self.committer.submit(wish)

    def lead(self, receipt: Receipt | None = None) -> None:
        self.committer.lead(receipt)

    def lead_elsewhere(self) -> None:
        """In a thread of its own: for callers that must not wait, as event loops."""
        if self._leader is None:
            from concurrent.futures import ThreadPoolExecutor  # brings logging and queues

            with self._lock:
                self._leader = self._leader or ThreadPoolExecutor(1, "commits")
        self._leader.submit(self._lead_on)

    def _lead_on(self) -> None:
        try:
            self.lead()
        except Exception:
            log.exception("a commit could not be concluded")

    def listen(self) -> None:
        """Hear other processes from now on."""
        with self._lock:
            if self._end_listening is None:
                self._end_listening = self.store.listen(self._hear, self._give_away)

    def wake(self) -> None:
        """Something was changed that everybody who works on this store has to look at."""
        self.store.ring()
        self._hear()

    def look_again(self) -> None:
        """A clock was turned, or something came from elsewhere."""
        if self.dispatcher is not None:
            self.dispatcher.watch.need_now()

    def set_clock(self) -> None:
        """Put the clock of this process right by that of the database server. Raises StoreError."""
        if isinstance(self.clock, SharedClock):
            difference = self.clock.compare(self.store.clock_time)
            if difference is not None:
                log.warning("this machine's clock is wrong by %s: the database server's is used", -difference)

    def close(self) -> None:
        with self._lock:
            if self._end_listening is not None:
                self._end_listening()
                self._end_listening = None
            self._lookout.stop()
            if self._leader is not None:
                self._leader.shutdown()
                self._leader = None
        self.store.close()

    def _give_away(self) -> None:
        if self.dispatcher is not None:
            self.dispatcher.give_away()

    def _hear(self) -> None:
        if self.dispatcher is not None:
            self.dispatcher.look_for_work()
        if self.projector is not None:
            self.projector.look()
        self._lookout.look()

    def _is_ring_due(self, batch: Batch) -> bool:
        return (
            batch.has_left_work
            or batch.has_closed_runs
            or batch.has_freed_slot
            or (batch.next_due_at is not None and self.dispatcher is None)
            or (batch.has_projections and self.projector is None)
        )

    def _note_commit(self, batch: Batch) -> None:
        for entry in batch.entries.values():
            self.waiting.note(entry)
        if batch.has_projections and self.projector is not None:
            self.projector.look()
        self.journal.note_batch(batch)
        if self.tracing is not None:
            self.tracing.note_batch(batch)
        if self.on_batch is not None:
            self.on_batch(batch)


def engine_of(
    store: str | Store | Engine, attribute_store: str | None, tracing: Tracing | None, bodies: Bodies | None
) -> Engine:
    """The given one, or one that is made. Raises UsageError for parts that a given one does not have."""
    if not isinstance(store, Engine):
        return Engine(store, attribute_store=attribute_store, tracing=tracing, bodies=bodies)
    parts = {"attribute_store": attribute_store, "tracing": tracing, "bodies": bodies}
    for name, part in parts.items():
        if part is not None and part != getattr(store, name):
            raise UsageError(f"{name} is of the engine, which is given: write Engine(…, {name}=…)")
    return store


def _demand_parts(bodies: object, tracing: object, attribute_store: object) -> None:
    if bodies is not None and not isinstance(bodies, Bodies):
        raise another("bodies", "Bodies, see orchestrator.store.bodies", bodies)
    if tracing is not None and not hasattr(tracing, "note_caller"):
        raise another("tracing", "Tracing, see orchestrator.engine.tracing", tracing)
    is_store = isinstance(attribute_store, str) or hasattr(attribute_store, "apply")
    if attribute_store is not None and not is_store:
        raise another("attribute_store", "a database URL", attribute_store)


def _demand_store(store: object) -> Store:
    if not hasattr(store, "clock_time"):
        raise another("a store", "a database URL, such as 'sqlite:///runs.db'", store)
    return cast(Store, store)
