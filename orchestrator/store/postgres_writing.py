"""The write transaction of the PostgreSQL store.

Others write at the same time. Whoever decides about a run, leases its work or takes a lease away holds the
lock of its row in `runs`; whoever commits under the name of a worker holds that worker's row against its
burial. Nobody waits for a run while holding one with a higher number: a lock out of that order is tried for,
and where it is not to be had the transaction is done again, with all of those runs locked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from orchestrator.core.pauses import NO_PAUSES, Pauses
from orchestrator.errors import StoreConflict
from orchestrator.store.contract import Claimed, Head, Loan, Projection, Version
from orchestrator.store.postgres_lending import Lender
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.postgres_upkeep import PostgresUpkeep
from orchestrator.store.rows import GUARDED, Writes
from orchestrator.store.sql_reading import pauses_of
from orchestrator.store.times import from_micros, to_micros

_ORDER = tuple(Writes.__slots__)
_BULK_FROM = {"insert_step": 8, "update_step": 8, "delete_step": 8}
_BULK_FROM_OTHERS = 4
"""Fewer rows are quicker one by one."""
_WORKER_AT = {"insert_step": 6, "update_step": 3}
_TRIES = 20
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


class PostgresTransaction(PostgresUpkeep):
    """See contract.Transaction."""

    def __init__(
        self,
        link: Link,
        schema: str,
        lender: Lender,
        *,
        epoch: int,
        definitions_epoch: int,
        workers: frozenset[int],
        numbers: RunNumbers,
        wanted: frozenset[int] = frozenset(),
    ) -> None:
        """`wanted`: runs to lock first."""
        super().__init__(link, schema)
        self._lender = lender
        self.epoch = epoch
        self.definitions_epoch = definitions_epoch
        self.wanted: set[int] = set(wanted)
        self.registered: list[int] = []
        self.is_ring_due = False
        self._numbers = numbers
        self._lost_workers: frozenset[int] = frozenset()
        self._pauses: Pauses | None = None
        self._locked: set[int] = set()
        self._heads: dict[int, Version] = {}
        self._known: dict[int, Head] = {}
        self._latest: dict[str, Head | None] = {}
        if workers:
            link.defer("keep_workers", list(workers), on_rows=lambda rows: self._note_workers(workers, rows))
        self.number: str | None = None
        """Of the transaction, once it is known."""
        self.proof: tuple[Any, ...] | None = None
        """A history row that is there if, and only if, it was committed."""
        link.defer("this_transaction", on_rows=self._note_number)
        link.defer("all_pauses", on_rows=self._note_pauses)
        self._prelude_count = link.waiting_count

    def _note_workers(self, workers: frozenset[int], rows: Rows) -> None:
        self._lost_workers = workers - {worker for (worker,) in rows}

    def _note_number(self, rows: Rows) -> None:
        self.number = rows[0][0]

    def _note_pauses(self, rows: Rows) -> None:
        self._pauses = pauses_of(rows) if rows else NO_PAUSES

    @property
    def has_begun(self) -> bool:
        """Is there anything to commit?"""
        return self._link.is_begun or self._link.waiting_count > self._prelude_count

    @property
    def pauses(self) -> Pauses:
        if self._pauses is None:
            self._link.flush()
        assert self._pauses is not None
        return self._pauses

    def is_alive(self, worker: int) -> bool:
        self._link.flush()
        return worker not in self._lost_workers

    @property
    def are_leases_kept(self) -> bool:
        self._link.flush()
        return not self._lost_workers

    # --- Locks ---

    def prepare(self, runs: Iterable[int], flow_ids: Iterable[str]) -> None:
        self._lock(runs, [flow_id for flow_id in flow_ids if flow_id not in self._latest])

    def find_run(self, run: int) -> Head | None:
        self._lock([run])
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
            self._lock([head.run])
        raise StoreConflict(f"{flow_id} is started anew again and again by others")

    def _lock(self, runs: Iterable[int], flow_ids: Sequence[str] = ()) -> None:
        """Runs by number, and the latest ones of flow ids."""
        unknown = {run for run in runs if run not in self._heads}
        if not unknown and not flow_ids:
            return
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
            questions: list[tuple[str, tuple[object, ...]]] = [
                ("lock_runs" if waits else "lock_runs_now", parameters),
                ("latest_of", (list(flow_ids),)),
            ]
            locked, latest = self._link.together(questions)
            self._note(locked)
            # Where another run became the latest while the lock was waited for, `find_latest` looks again.
            self._latest |= dict.fromkeys(set(flow_ids) - {flow_id for flow_id, _ in latest})
        self._locked |= unknown

    def _note(self, rows: Rows) -> None:
        for row in rows:
            head, is_latest = Head(*row[:-1]), bool(row[-1])
            self._locked.add(head.run)
            self._known[head.run] = head
            self._heads[head.run] = Version(head.version, is_latest)
            if is_latest:
                self._latest[head.flow_id] = head

    # --- Runs ---

    def next_run_number(self) -> int:
        return self._numbers.take(self._link)

    def versions(self, runs: Iterable[int]) -> dict[int, Version]:
        runs = list(runs)
        self._lock(runs)
        return {run: self._heads[run] for run in runs if run in self._heads}

    def leases(self, run: int, execution_ids: Iterable[str]) -> dict[str, int | None]:
        self._lock([run])
        return dict(self._all("leases", run, list(execution_ids)))

    def write(self, writes: Writes) -> None:
        """Raises nothing yet: what is wrong is found by the database at the commit, which then fails."""
        self.bodies.seal(writes)
        self._heads.clear()
        self._known.clear()
        self._latest.clear()
        self._demand_definitions(writes)
        self.proof = writes.insert_history[0] if writes.insert_history else self.proof
        writes.insert_run.sort(key=lambda row: row[1])  # who starts the same flow ids waits in the same order
        for name in _ORDER:
            rows = getattr(writes, name)
            if rows:
                self._write_rows(name, self._without_lost(name, rows))

    def _write_rows(self, name: str, rows: list[tuple[object, ...]]) -> None:
        bulk = f"bulk_{name}"
        if len(rows) < _BULK_FROM.get(name, _BULK_FROM_OTHERS) or bulk not in self._link.statements:
            self._link.defer_many(name, rows)
            return
        columns: list[object] = [list(column) for column in zip(*rows, strict=True)]
        if name in GUARDED:
            columns.append(len(rows))
        self._link.defer(bulk, *columns)

    def _without_lost(self, name: str, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        """What was meant for a worker that others took for dead is nobody's."""
        at = _WORKER_AT.get(name)
        if at is None or not self._lost_workers:
            return rows
        return [(*row[:at], None, *row[at + 1 :]) if row[at] in self._lost_workers else row for row in rows]

    def _demand_definitions(self, writes: Writes) -> None:
        """Others may have pruned those that we took for stored; from here on they cannot."""
        hashes = {row[5] for row in writes.insert_run} | {row[0] for row in writes.set_definition}
        if hashes:
            self._link.defer("demand_definitions", sorted(hashes), sorted(hashes))

    def supersede(self, run: int) -> None:
        self._latest.clear()
        self._lock([run])
        self._link.defer("supersede_run", run)

    # --- Work ---

    def claim(self, worker: int, now: datetime, limit: int, excluded: Sequence[str]) -> list[Claimed]:
        at, pauses = to_micros(now), self.pauses
        if worker in self._lost_workers:
            return []
        if excluded or pauses:
            questions: list[tuple[str, tuple[object, ...]]] = [
                ("claim_except", (at, list(excluded), limit, worker)),
                ("next_due_at_except", (list(excluded),)),
            ]
        else:
            questions = [("claim", (at, limit, worker)), ("next_due_at", ())]
        rows, due = self._link.together(questions)
        self._due = due[0][0]
        self._note([row[2:] for row in rows])
        return [Claimed(run, execution_id, bool(is_lost)) for execution_id, is_lost, run, *_ in rows]

    _due: int | None = None
    """When the next work is due, as the last claim has left it."""

    def next_due_at(self, excluded: Sequence[str]) -> datetime | None:
        if self._due is not None:
            return from_micros(self._due)
        if excluded or self.pauses:
            (micros,) = self._row("next_due_at_except", list(excluded))
        else:
            (micros,) = self._row("next_due_at")
        return from_micros(micros) if micros is not None else None

    def release(self, worker: int, executions: Iterable[tuple[int, str]]) -> None:
        rows = [(run, execution_id, worker) for run, execution_id in executions]
        if rows:
            self._lock(run for run, _, _ in rows)
            self._link.defer_many("release", rows)
            self._due = None

    def claim_projections(self, worker: int, limit: int) -> list[Projection]:
        """One at a time: the order of a flow id's rows must not be lost between two."""
        self._link.defer("lock_projections", f"{self._schema}.projections")
        return sorted(Projection(*row) for row in self._opened("claim_projections", worker, worker, limit))

    def delete_projections(self, seqs: Iterable[int]) -> None:
        rows = [(seq,) for seq in seqs]
        if rows:
            self._link.defer_many("delete_projection", rows)

    def pause(self, flow: str, step: str | None, at: datetime) -> bool:
        is_new = self._link.count("insert_pause", flow, step or "", to_micros(at)) == 1
        self._pauses = self.find_pauses()
        return is_new

    def resume(self, flow: str, step: str | None) -> bool:
        was_paused = self._link.count("delete_pause", flow, step or "") == 1
        self._pauses = self.find_pauses()
        return was_paused

    # --- Workers ---

    def register_worker(self, alive_until: datetime, host: str, pid: int, process_started: str) -> int:
        (worker,) = self._row("insert_worker", to_micros(alive_until), host, pid, process_started)
        self.registered.append(worker)
        return int(worker)

    def renew_worker(self, worker: int, alive_until: datetime) -> bool:
        return bool(self._all("renew_worker", to_micros(alive_until), worker))

    def bury_worker(self, worker: int) -> int:
        """Its row first: what it is just committing is finished before, and it commits nothing any more."""
        self._link.defer("delete_worker", worker)
        self._note(self._all("lock_runs_of_worker", worker))
        count = self._link.count("release_lost", worker)
        self._link.defer("release_projections", worker)
        self._due = None
        return count

    def ring(self) -> None:
        self.is_ring_due = True

    def lend(self) -> AbstractContextManager[Loan]:
        self._link.flush()
        return self._lender.lend(self._link)

    def save_definition(self, hash: str, flow: str, path: str, text: str, at: datetime) -> None:
        self._link.defer("insert_definition", hash, flow, path, text, to_micros(at))
