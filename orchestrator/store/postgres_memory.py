"""What a process takes for true of a PostgreSQL store without asking: the commit demands it, or fails.

A run is trusted to be as this process has left it until somebody else has changed it, or may have: then its
row is locked first, for a while.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from orchestrator.store.contract import Head

_CALM_FOR = 8
"""So often must nobody else have changed a run before it is trusted again."""
_ASKED_STARTS = 100
"""So many starts are asked about after one whose flow id was not new."""
_CAPACITY = 10_000
_HEAD_CAPACITY = 2_000
"""A head takes half a kilobyte; that of a run which is not known costs a question."""


class Committed(Protocol):
    """A transaction of which this is true since it was committed."""

    learned: dict[int, Head | None]
    """Runs as it leaves them; None: closed, or somebody else may be at it next."""
    has_changed_orders: bool
    registered: set[int]
    buried: set[int]
    """Workers."""


class Memory:
    """Of one store; used under its turn only."""

    def __init__(self) -> None:
        self.workers: frozenset[int] = frozenset()
        """Registered by this process."""
        self.lost: frozenset[int] = frozenset()
        """Those of them that are no more: deleted by others, or signed off."""
        self.orders: str | None = None
        """What is paused, and which queues there are."""
        self.knows_orders = False
        self.is_wary = False
        """The last transaction has failed: perhaps something of this is not true any more."""
        self._heads: OrderedDict[int, Head] = OrderedDict()
        """Of runs, each the latest of its flow id."""
        self._latest: dict[str, int] = {}
        self._flow_ids: OrderedDict[str, None] = OrderedDict()
        """Some that there are."""
        self._asked_starts = 0
        self._shared: OrderedDict[int, int] = OrderedDict()
        """Runs that others change too, and for how many of our locks they have to be left alone by them."""

    @property
    def is_trusted(self) -> bool:
        return self.knows_orders and not self.is_wary and not self.lost

    def of(self, run: int) -> Head | None:
        """None: it has to be asked for."""
        return None if run in self._shared else self._heads.get(run)

    def latest(self, flow_id: str) -> Head | None:
        run = self._latest.get(flow_id)
        return None if run is None else self.of(run)

    def is_new(self, started: Iterable[str]) -> bool:
        """Are there no such flow ids, as far as this process knows, and is that to be relied upon?"""
        for flow_id in started:
            self._asked_starts = max(0, self._asked_starts - 1)
            if flow_id in self._flow_ids:
                self._asked_starts = _ASKED_STARTS
        return not self._asked_starts

    def note_flow_id(self, flow_id: str) -> None:
        self._flow_ids[flow_id] = None
        if len(self._flow_ids) > _CAPACITY:
            self._flow_ids.popitem(last=False)

    def compare(self, head: Head) -> None:
        """The run as it was found when it was locked."""
        run, known = head.run, self._heads.get(head.run)
        if known is not None and known.version != head.version:
            self._shared[run] = _CALM_FOR
        elif run in self._shared:
            self._shared[run] -= 1
            if self._shared[run] <= 0:
                del self._shared[run]
        if len(self._shared) > _CAPACITY:
            self._shared.popitem(last=False)

    def note_commit(self, transaction: Committed) -> None:
        self.is_wary = False
        if transaction.has_changed_orders:
            self.knows_orders = False
        self.workers |= transaction.registered
        self.lost |= transaction.buried & self.workers
        for run, head in transaction.learned.items():
            if head is None:
                self._forget(run)
            elif run in self._heads:
                self._heads[run] = head
                self._heads.move_to_end(run)
            else:
                self._heads[run] = head
                self._latest[head.flow_id] = run
        while len(self._heads) > _HEAD_CAPACITY:
            self._forget(next(iter(self._heads)))

    def _forget(self, run: int) -> None:
        head = self._heads.pop(run, None)
        if head is not None and self._latest.get(head.flow_id) == run:
            del self._latest[head.flow_id]
