"""How a write transaction of the PostgreSQL store keeps out of the way of others.

Others write at the same time. Whoever decides about a run, leases its work or takes a lease away holds the
lock of its row in `runs`; whoever commits under the name of a worker holds that worker's row against its
burial. Nobody waits for a run while holding one with a higher number: a lock out of that order is tried for,
and where it is not to be had the transaction is done again, with all of those runs locked at once.

A transaction that asks nothing saves itself all that: what it takes for true (postgres_memory.py) is demanded
by the commit, which is then its only round trip. It fails as a whole when others were faster, and is done
again with locks. As soon as anything is asked, the runs of this kind are locked with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from orchestrator.core.pauses import NO_PAUSES, Pauses
from orchestrator.core.state import Status
from orchestrator.errors import StoreConflict
from orchestrator.store.contract import Head, Version
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.postgres_memory import Memory
from orchestrator.store.postgres_reading import Question, of_many
from orchestrator.store.postgres_upkeep import PostgresUpkeep
from orchestrator.store.postgres_wire import Call, Statement
from orchestrator.store.queues import NO_QUEUES, Queues, queues_of
from orchestrator.store.sql_reading import pauses_of

_TRIES = 20
_BETWEEN, _WITHIN = "\x1e", "\x1f"
"""Pauses and queues, as one text."""


class PostgresLocks(PostgresUpkeep):
    """The part of a transaction that looks at runs."""

    def __init__(
        self,
        link: Link,
        schema: str,
        *,
        begin: Statement,
        memory: Memory,
        wanted: frozenset[int] = frozenset(),
    ) -> None:
        """`begin`: what begins it; `wanted`: runs to lock first."""
        super().__init__(link, schema)
        self.wanted: set[int] = set(wanted)
        self.number: str | None = None
        """Of the transaction, once it is known."""
        self.proof: tuple[Any, ...] | None = None
        """A history row that is there if, and only if, it was committed."""
        self.learned: dict[int, Head | None] = {}
        """What is true of runs once it is committed (postgres_memory.py)."""
        self.has_changed_orders = False
        self.is_whole_message = False
        """It needs neither beginning nor end: the message that it is sent in is the transaction."""
        self._begin = begin
        self._memory = memory
        self._trusts = memory.is_trusted and not wanted
        self._lost_workers: frozenset[int] = memory.lost
        self._pauses: Pauses | None = None
        self._queues: Queues | None = None
        self._locked: set[int] = set()
        self._assumed: dict[int, Head] = {}
        """Runs that are taken for unchanged."""
        self._doubtful: set[int] = set()
        """Those of them about which something may be said although nothing of them is written."""
        self._heads: dict[int, Version] = {}
        self._known: dict[int, Head] = {}
        self._latest: dict[str, Head | None] = {}
        link.opening = self._begin_asking

    # --- Beginning and end ---

    def _begin_asking(self) -> list[Call]:
        """What comes first as soon as anything is asked."""
        call, workers = self.link.call, sorted(self._memory.workers)
        return [
            Call(self._begin),
            *([call("keep_workers", workers, on_rows=self._note_workers)] if workers else ()),
            call("this_transaction", on_rows=self._note_number),
            call("orders", on_rows=self._note_orders),
        ]

    @property
    def has_asked(self) -> bool:
        return self.link.opening is None

    @property
    def has_begun(self) -> bool:
        """Is there anything to commit?"""
        return self.has_asked or self.link.waiting_count > 0

    def make_sure(self) -> None:
        """Before the commit: where nothing was asked, what was taken for true is demanded together with it.

        Without a history row nobody could tell afterwards what became of a commit whose answer is lost: then
        the transaction's number is asked for before.
        """
        if self._doubtful and (doubtful := self._doubtful & self._assumed.keys()):
            self._lock(doubtful, is_sure=True)
        if self.has_asked or not self.link.waiting_count:
            return
        if not self._trusts or self.proof is None:
            self.link.flush()
            return
        self._demand_assumed()

    def _demand_assumed(self) -> None:
        """Before everything else that is written."""
        link, workers, orders = self.link, sorted(self._memory.workers), self._memory.orders
        demanded = (link.fence, workers, len(workers))
        self.is_whole_message = link.is_transaction
        opening = [] if self.is_whole_message else [Call(self._begin)]
        if orders is not None:
            opening.append(link.call("demand", *demanded, orders))
        elif not link.trust_in_first(*demanded):
            opening.append(link.call("demand_no_orders", *demanded))
        link.opening = lambda: opening

    def _note_workers(self, rows: Rows) -> None:
        self._lost_workers = self._memory.workers - {worker for (worker,) in rows}

    def _note_number(self, rows: Rows) -> None:
        self.number = rows[0][0]

    def _note_orders(self, rows: Rows) -> None:
        """The last thing that is asked at the beginning: is what was taken for true until here true?"""
        memory, orders = self._memory, rows[0][0]
        self._pauses, self._queues = _orders_of(orders)
        if self._trusts and (self._lost_workers != memory.lost or orders != memory.orders):
            raise StoreConflict("a worker was given up, something paused or a queue changed, meanwhile")
        memory.lost, memory.orders, memory.knows_orders = self._lost_workers, orders, True

    @property
    def pauses(self) -> Pauses:
        self._look_at_orders()
        assert self._pauses is not None
        return self._pauses

    @property
    def queues(self) -> Queues:
        self._look_at_orders()
        assert self._queues is not None
        return self._queues

    def _look_at_orders(self) -> None:
        if self._pauses is None and self._trusts and not self.has_asked:
            self._pauses, self._queues = _orders_of(self._memory.orders)
        if self._pauses is None:
            self.link.flush()

    def is_alive(self, worker: int) -> bool:
        self._look_at_workers()
        return worker not in self._lost_workers

    @property
    def are_leases_kept(self) -> bool:
        self._look_at_workers()
        return not self._lost_workers

    def _look_at_workers(self) -> None:
        if not self.has_asked and not self._trusts:
            self.link.flush()

    # --- Locks ---

    def prepare(
        self,
        runs: Iterable[int],
        flow_ids: Iterable[str],
        reported: Iterable[int] = (),
        started: Iterable[str] = (),
        unloaded: Iterable[str] = (),
    ) -> None:
        flow_ids, reported, started = set(flow_ids), set(reported), set(started)
        asked = reported.union(runs)
        if not self._assume(asked, flow_ids, started):
            unknown = [each for each in flow_ids | started if each not in self._latest]
            self._lock(asked, unknown, unloaded=list(unloaded))
        else:
            self._doubtful = self._assumed.keys() - reported

    def _assume(self, runs: set[int], flow_ids: set[str], started: set[str]) -> bool:
        """That all of these are unchanged, and those are new, if that is to be expected."""
        memory = self._memory
        if not self._trusts or self.has_asked or (started and not memory.is_new(started)):
            return False
        heads = [*map(memory.of, runs), *map(memory.latest, flow_ids)]
        if None in heads:
            return False
        if started:
            self._latest |= dict.fromkeys(started)
        for head in heads:
            assert head is not None
            self._latest[head.flow_id] = self._assumed[head.run] = head
            self._heads[head.run] = Version(head.version, is_latest=True)
        self.wanted |= self._assumed.keys()
        return True

    def find_run(self, run: int) -> Head | None:
        if run not in self._known:
            self._lock([run], is_sure=True)
        return self._known.get(run)

    def find_latest(self, flow_id: str) -> Head | None:
        if flow_id not in self._latest and not self._locked:
            self._lock([], [flow_id])
        for _ in range(_TRIES):
            if flow_id in self._latest:
                return self._latest[flow_id]
            head = super().find_latest(flow_id)
            if head is None:
                self._latest[flow_id] = None
                return None
            self._lock([head.run], is_sure=True)
        raise StoreConflict(f"{flow_id} is started anew again and again by others")

    def versions(self, runs: Iterable[int]) -> dict[int, Version]:
        asked = set(runs)
        if not asked <= self._heads.keys():
            self._lock(asked)
        return {run: self._heads[run] for run in asked if run in self._heads}

    def _lock(
        self,
        runs: Iterable[int],
        flow_ids: Sequence[str] = (),
        *,
        is_sure: bool = False,
        unloaded: Sequence[str] = (),
    ) -> None:
        """Runs by number, and the latest ones of flow ids. `is_sure`: even those taken for unchanged;
        `unloaded`: flow ids whose runs are loaded together with that.
        """
        unknown = {run for run in runs if run not in self._heads or (is_sure and run in self._assumed)}
        if not unknown and not flow_ids:
            return
        unknown |= self._assumed.keys()
        if not self._locked:
            unknown |= self.wanted
        missing = unknown - self._locked
        waits = not self._locked or not (missing or flow_ids)
        if not waits and not flow_ids:
            waits = min(missing) > max(self._locked)
        self.wanted |= unknown | self._locked
        parameters = (sorted(unknown), list(flow_ids))
        if not flow_ids:
            self._note(self._all("lock_runs" if waits else "lock_runs_now", *parameters))
        else:
            questions: list[Question] = [
                ("lock_runs" if waits else "lock_runs_now", parameters),
                ("latest_of", (list(flow_ids),)),
                *([of_many([], list(unloaded))] if unloaded else ()),
            ]
            locked, latest, *loaded = self.link.together(questions)
            self._note(locked)
            if loaded:
                self._note_loaded({run for run, *_ in locked}, *loaded)
            # Where another run became the latest while the lock was waited for, `find_latest` looks again.
            self._latest |= dict.fromkeys(set(flow_ids) - {flow_id for flow_id, _ in latest})
        self._locked |= unknown
        self._verify()

    def _note(self, rows: Rows) -> None:
        for row in rows:
            head, is_latest = Head(*row[:-1]), bool(row[-1])
            version = Version(head.version, is_latest)
            self._locked.add(head.run)
            self._known[head.run] = head
            self._heads[head.run] = version
            self.learned[head.run] = head if is_latest and head.status == Status.RUNNING else None
            self._memory.compare(head)
            if is_latest:
                self._latest[head.flow_id] = head
                self._memory.note_flow_id(head.flow_id)

    def _verify(self) -> None:
        """What was taken for unchanged is locked now."""
        assumed, self._assumed = self._assumed, {}
        for run, head in assumed.items():
            if self._known.get(run) != head or not self._heads[run].is_latest:
                raise StoreConflict(f"run number {run} was changed by others meanwhile")

    def _forget_heads(self, written: Iterable[int]) -> None:
        """Something is about to be written."""
        for run in written:
            self._assumed.pop(run, None)
        self._heads.clear()
        self._known.clear()
        self._latest.clear()


@lru_cache(maxsize=8)
def _orders_of(text: str | None) -> tuple[Pauses, Queues]:
    """Pauses, and queues, which have a number."""
    if text is None:
        return NO_PAUSES, NO_QUEUES
    rows = [each.split(_WITHIN) for each in text.split(_BETWEEN)]
    pauses = pauses_of((name, step) for name, step, number in rows if not number)
    queues = queues_of(sorted((int(number), name, settings) for name, settings, number in rows if number))
    return pauses, queues
