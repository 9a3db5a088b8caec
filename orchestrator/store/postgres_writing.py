"""The write transaction of the PostgreSQL store: what it writes, and what work it takes.

postgres_locks.py says how it keeps out of the way of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain, groupby
from operator import itemgetter

from orchestrator.core.state import Status
from orchestrator.store.contract import Claimed, Head, Loan, Projection
from orchestrator.store.postgres_lending import Lender
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.postgres_locks import PostgresLocks
from orchestrator.store.postgres_memory import Memory
from orchestrator.store.postgres_wire import Statement
from orchestrator.store.shares import due_share
from orchestrator.store.times import from_micros, to_micros
from orchestrator.store.writes import GUARDED, QUEUED, WORKER_AT, Writes

_BULK_FROM = 4
"""Fewer rows are quicker one by one: measured, both sides together (decision 36)."""
_MERGED = {
    ("insert_run", "insert_step", "insert_history"): "begin",
    ("update_run", "delete_step", "insert_step", "insert_history"): "advance",
    ("close_run", "delete_steps", "insert_history"): "finish",
}
"""What a plain start or step writes, in one statement; the names in their order."""
_DEFINITION_AT = 5
"""Of the row of a run."""
_LEAVES_WORK = {"set_definition": 1, "insert_queued_step": 0, "update_queued_step": 7}
"""Statements whose runs others may be at next, and where these stand."""
_MAXIMUM_BLOCK = 128


class RunNumbers:
    """Taken from the database in blocks: a short command takes one, who starts many takes ever more."""

    def __init__(self, quoted_schema: str) -> None:
        self._sequence = f"{quoted_schema}.run_numbers"
        self._left: list[int] = []
        self._count = 1

    def take(self, link: Link) -> int:
        if not self._left:
            rows = link.all("run_numbers", self._sequence, self._count)
            self._left = sorted((number for (number,) in rows), reverse=True)
            self._count = min(2 * self._count, _MAXIMUM_BLOCK)
        return self._left.pop()


class PostgresTransaction(PostgresLocks):
    """See contract.Transaction."""

    def __init__(
        self,
        link: Link,
        schema: str,
        lender: Lender,
        *,
        begin: Statement,
        memory: Memory,
        epoch: int,
        definitions_epoch: int,
        numbers: RunNumbers,
        wanted: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(link, schema, begin=begin, memory=memory, wanted=wanted)
        self.epoch = epoch
        self.definitions_epoch = definitions_epoch
        self.registered: set[int] = set()
        self.buried: set[int] = set()
        self.is_ring_due = False
        self.is_call_due = False
        self._due: dict[tuple[int, tuple[str, ...]], int | None] = {}
        """By queue and what is excluded, when its next work is due, as the last claim has left it."""
        self._lender = lender
        self._numbers = numbers

    # --- Runs ---

    def next_run_number(self) -> int:
        return self._numbers.take(self.link)

    def leases(self, run: int, execution_ids: Iterable[str]) -> dict[str, int | None]:
        self._lock([run], is_sure=True)
        return dict(self._all("leases", run, list(execution_ids)))

    def write(self, writes: Writes) -> None:
        """Raises nothing yet: what is wrong is found by the database at the commit, which then fails."""
        self.bodies.seal(writes)
        found = dict(writes.in_order())
        self._forget_heads(self._learn(found))
        if history := found.get("insert_history"):
            self.proof = history[0]
        if self._lost_workers:
            found = {name: self._without_lost(name, rows) for name, rows in found.items()}
        merged = _MERGED.get(tuple(found))
        if merged is not None and max(map(len, found.values())) == 1:
            demanded = [row[_DEFINITION_AT] for row in found.get("insert_run", ())]
            self.link.defer(merged, *demanded, *chain.from_iterable(chain.from_iterable(found.values())))
            return
        self._demand_definitions(found)
        for name, rows in found.items():
            self._write_rows(name, rows)

    def _learn(self, rows: dict[str, Rows]) -> list[int]:
        """Closed runs and those that leave work to others are not taken for unchanged the next time.

        Gives the runs that are written.
        """
        learned, written = self.learned, []
        if begun := rows.get("insert_run"):
            begun.sort(key=lambda row: row[1])  # who starts the same flow ids waits in the same order
            for run, flow_id, is_latest, *rest, _, _, _ in begun:
                head = Head(run, flow_id, *rest)
                learned[run] = head if is_latest and head.status == Status.RUNNING else None
                self._memory.note_flow_id(flow_id)
        for version, _, run, _ in rows.get("update_run", ()):
            known = learned.get(run) or self._assumed.get(run)
            learned[run] = known._replace(version=version) if known is not None else None
            written.append(run)
        for row in rows.get("close_run", ()):
            learned[row[6]] = None
            written.append(row[6])
        for name, at in _LEAVES_WORK.items():
            for row in rows.get(name, ()):
                learned[row[at]] = None
        return written

    def _write_rows(self, name: str, rows: list[tuple[object, ...]]) -> None:
        bulk = f"bulk_{name}"
        if name in QUEUED:
            self._write_queued(name, rows, QUEUED[name])
            return
        if len(rows) < _BULK_FROM or bulk not in self.link.statements:
            self.link.defer_many(name, rows)
            return
        columns: list[object] = [list(column) for column in zip(*rows, strict=True)]
        if name in GUARDED:
            columns.append(len(rows))
        self.link.defer(bulk, *columns)

    def _write_queued(self, name: str, rows: list[tuple[object, ...]], at: int) -> None:
        """A statement for each queue in a row: a run's executions are stored in their order."""
        if known := sorted({int(str(row[at])) for row in rows if row[at]}):
            self.link.defer("demand_queues", known, known)  # others may have deleted one
        for queue, rows_of_it in groupby(rows, itemgetter(at)):
            columns = zip(*((*row[:at], *row[at + 1 :]) for row in rows_of_it), strict=True)
            self.link.defer(f"bulk_{name}", *map(list, columns), queue, queue)

    def _without_lost(self, name: str, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        """What was meant for a worker that others took for dead is nobody's."""
        at = WORKER_AT.get(name)
        if at is None:
            return rows
        return [(*row[:at], None, *row[at + 1 :]) if row[at] in self._lost_workers else row for row in rows]

    def _demand_definitions(self, rows: dict[str, Rows]) -> None:
        """Others may have pruned those that we took for stored; from here on they cannot."""
        if "insert_run" not in rows and "set_definition" not in rows:
            return
        hashes = {row[_DEFINITION_AT] for row in rows.get("insert_run", ())}
        hashes |= {row[0] for row in rows.get("set_definition", ())}
        self.link.defer("demand_definitions", sorted(hashes), sorted(hashes))

    def supersede(self, run: int) -> None:
        self._latest.clear()
        self._lock([run], is_sure=True)
        self.learned[run] = None
        self.link.defer("supersede_run", run)

    # --- Work ---

    def claim(
        self, worker: int, now: datetime, limit: int, excluded: Sequence[str], queue: int = 0
    ) -> list[Claimed]:
        share, at = due_share(limit), to_micros(now)
        rows = self._claim(worker, at, (share, limit), excluded, queue)
        due_at = self._due.get((queue, tuple(excluded)))
        if len(rows) < limit and due_at is not None and due_at <= at:
            left = limit - len(rows)
            rows += self._claim(worker, at, (left, left), excluded, queue)
        self._note([row[2:] for row in rows])
        return [Claimed(run, execution_id, bool(is_lost)) for execution_id, is_lost, run, *_ in rows]

    def _claim(
        self, worker: int, at: int, limits: tuple[int, int], excluded: Sequence[str], queue: int
    ) -> Rows:
        """`limits`: of what has become due, and of all."""
        if worker in self._lost_workers:
            return []
        if excluded or self.pauses:
            left = list(excluded)
            questions: list[tuple[str, tuple[object, ...]]] = [
                ("claim_except", (queue, at, left, limits[0], queue, left, limits[1], limits[1], worker)),
                ("next_due_at_except", (queue, left, queue, left)),
            ]
        else:
            questions = [
                ("claim", (queue, at, limits[0], queue, limits[1], limits[1], worker)),
                ("next_due_at", (queue, queue)),
            ]
        rows, due = self.link.together(questions)
        self._due[queue, tuple(excluded)] = due[0][0]
        return rows

    def claim_timers(self, worker: int, now: datetime, limit: int) -> list[Claimed]:
        if worker in self._lost_workers:
            return []
        rows = self._all("claim_timers", 0, to_micros(now), limit, worker)
        self._note([row[2:] for row in rows])
        return [Claimed(run, execution_id, bool(is_lost)) for execution_id, is_lost, run, *_ in rows]

    def next_timer_at(self) -> datetime | None:
        (micros,) = self._row("next_timer_at", 0)
        return from_micros(micros) if micros is not None else None

    def next_due_at(self, excluded: Sequence[str], queue: int = 0) -> datetime | None:
        asked = queue, tuple(excluded)
        if asked in self._due:
            known = self._due[asked]
            return from_micros(known) if known is not None else None
        if excluded or self.pauses:
            left = list(excluded)
            (micros,) = self._row("next_due_at_except", queue, left, queue, left)
        else:
            (micros,) = self._row("next_due_at", queue, queue)
        return from_micros(micros) if micros is not None else None

    def release(self, worker: int, executions: Iterable[tuple[int, str]]) -> None:
        rows = [(run, execution_id, worker) for run, execution_id in executions]
        if rows:
            self._lock((run for run, _, _ in rows), is_sure=True)
            self.link.defer_many("release", rows)
            self._due.clear()

    def claim_projections(self, worker: int, limit: int) -> list[Projection]:
        """One at a time: the order of a flow id's rows must not be lost between two."""
        self.link.defer("lock_projections", f"{self._schema}.projections")
        return sorted(Projection(*row) for row in self._opened("claim_projections", worker, worker, limit))

    def delete_projections(self, seqs: Iterable[int]) -> None:
        rows = [(seq,) for seq in seqs]
        if rows:
            self.link.defer_many("delete_projection", rows)

    def pause(self, flow: str, step: str | None, at: datetime) -> bool:
        is_new = self.link.count("insert_pause", flow, step or "", to_micros(at)) == 1
        self._pauses = self.find_pauses()
        self.has_changed_orders = True
        return is_new

    def resume(self, flow: str, step: str | None) -> bool:
        was_paused = self.link.count("delete_pause", flow, step or "") == 1
        self._pauses = self.find_pauses()
        self.has_changed_orders = True
        return was_paused

    # --- Queues ---

    def ready_queues(self, queues: Iterable[int], now: datetime) -> set[int]:
        return {queue for (queue,) in self._all("ready_queues", list(queues), to_micros(now))}

    def hold_queues(self, queues: Iterable[int]) -> dict[int, int]:
        """Whoever counts after that sees what others took before."""
        return dict(self._all("hold_queues", list(queues)))

    def spend(self, queue: int, spent_until: int) -> None:
        self.link.defer("spend", spent_until, queue)

    def set_queue(self, name: str, settings: str) -> int:
        known = self.queues.named(name)
        if known is None:
            self.link.defer("insert_queue", name, settings)
        else:
            self.link.defer("set_queue", settings, known.number)
        self._queues = self.find_queues()
        self.has_changed_orders = True
        queue = self._queues.named(name)
        assert queue is not None
        return queue.number

    def delete_queue(self, queue: int) -> None:
        self.link.defer("delete_queue", queue)
        self._queues = self.find_queues()
        self.has_changed_orders = True

    def calls(self) -> list[tuple[int, str, str, str, int]]:
        return self._all("calls")

    def set_step_queues(self, executions: Iterable[tuple[int, str, int]]) -> None:
        rows = [(queue, run, execution_id) for run, execution_id, queue in executions]
        if rows:
            self._lock((run for _, run, _ in rows), is_sure=True)
            self.link.defer_many("set_step_queue", rows)
            self._due.clear()

    # --- Workers ---

    def register_worker(
        self, alive_until: datetime, host: str, pid: int, process_started: str, serves: str = ""
    ) -> int:
        (worker,) = self._row("insert_worker", to_micros(alive_until), host, pid, process_started, serves)
        self.registered.add(worker)
        return int(worker)

    def renew_worker(self, worker: int, alive_until: datetime) -> bool:
        return bool(self._all("renew_worker", to_micros(alive_until), worker))

    def bury_worker(self, worker: int) -> int:
        """Its row first: what it is just committing is finished before, and it commits nothing any more."""
        self.buried.add(worker)
        self.link.defer("delete_worker", worker)
        self._note(self._all("lock_runs_of_worker", worker))
        count = self.link.count("release_lost", worker)
        self.link.defer("release_projections", worker)
        self._due.clear()
        return count

    def ring(self) -> None:
        self.is_ring_due = True

    def call_for_work(self) -> None:
        self.is_call_due = True

    def lend(self) -> AbstractContextManager[Loan]:
        self.link.flush()
        return self._lender.lend(self.link)

    def save_definition(self, hash: str, flow: str, path: str, text: str, at: datetime) -> None:
        self.link.defer("insert_definition", hash, flow, path, text, to_micros(at))
