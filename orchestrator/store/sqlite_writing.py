"""The write transaction of the SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from orchestrator.core.pauses import Pauses
from orchestrator.errors import StoreConflict
from orchestrator.store.contract import Claimed, Loan, Projection, Version
from orchestrator.store.queues import Queues
from orchestrator.store.shares import due_share
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sqlite_lending import Lender
from orchestrator.store.sqlite_reading import read_pauses
from orchestrator.store.sqlite_upkeep import SqliteUpkeep
from orchestrator.store.times import from_micros, to_micros
from orchestrator.store.writes import GUARDED, QUEUED, WORKER_AT, Writes


class SqliteTransaction(SqliteUpkeep):
    """See contract.Transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lender: Lender,
        *,
        epoch: int,
        last_run: int,
        pauses: Pauses,
        queues: Queues,
        alive: set[int] | None = None,
        cursor: sqlite3.Cursor | None = None,
    ) -> None:
        """`alive`: workers that are known to be stored; nobody else has written since."""
        super().__init__(connection, cursor)
        self._alive = set() if alive is None else alive
        self._lost: set[int] = set()
        self._lender = lender
        self.epoch = self.definitions_epoch = epoch
        self.is_ring_due = False
        self.are_leases_kept = False
        self.last_run = last_run
        self.pauses = pauses
        self.queues = queues

    # --- Runs ---

    def next_run_number(self) -> int:
        self.last_run += 1
        return self.last_run

    def prepare(
        self,
        runs: Iterable[int],
        flow_ids: Iterable[str],
        reported: Iterable[int] = (),
        started: Iterable[str] = (),
        unloaded: Iterable[str] = (),
    ) -> None:
        """Nothing to gain."""

    def versions(self, runs: Iterable[int]) -> dict[int, Version]:
        rows = self._all("versions", self._listed(runs))
        return {run: Version(version, bool(is_latest)) for run, version, is_latest in rows}

    def leases(self, run: int, execution_ids: Iterable[str]) -> dict[str, int | None]:
        return dict(self._all("leases", run, self._listed(execution_ids)))

    def write(self, writes: Writes) -> None:
        self.bodies.seal(writes)
        execute = self._cursor.executemany
        for name, rows in writes.in_order():
            if self._lost and name in WORKER_AT:
                rows = self._without_lost(rows, WORKER_AT[name])
            if name in QUEUED:
                rows = self._in_turn(rows, QUEUED[name])
            cursor = execute(STATEMENTS[name], rows)
            if name in GUARDED and cursor.rowcount != len(rows):
                raise StoreConflict("a run was changed by another process meanwhile")

    def _without_lost(self, rows: list[tuple[Any, ...]], at: int) -> list[tuple[Any, ...]]:
        """What was meant for a worker that others took for dead is nobody's."""
        return [(*row[:at], None, *row[at + 1 :]) if row[at] in self._lost else row for row in rows]

    def _in_turn(self, rows: list[tuple[Any, ...]], at: int) -> list[tuple[Any, ...]]:
        next_turns: dict[int, int] = {}
        turned = []
        for row in rows:
            queue, rank = row[at], row[at + 1]
            if rank is not None:
                if queue not in next_turns:
                    (next_turns[queue],) = self._row("next_turn", queue)
                rank += next_turns[queue]
            turned.append((*row[: at + 1], rank, *row[at + 2 :]))
        return turned

    def supersede(self, run: int) -> None:
        self._connection.execute(STATEMENTS["supersede_run"], (run,))

    # --- Work ---

    def claim(
        self, worker: int, now: datetime, limit: int, excluded: Sequence[str], queue: int = 0
    ) -> list[Claimed]:
        if worker in self._lost:
            return []
        share = due_share(limit)
        rows = self._claim_due(worker, now, share, excluded, queue)
        is_more_due = len(rows) == share
        if excluded or self.pauses:
            left = (self._listed(excluded), limit - len(rows))
            rows += self._all("claim_in_turn_except", worker, queue, *left)
        else:
            rows += self._all("claim_in_turn", worker, queue, limit - len(rows))
        if is_more_due and len(rows) < limit:
            rows += self._claim_due(worker, now, limit - len(rows), excluded, queue)
        return [Claimed(run, execution_id, bool(is_lost)) for run, execution_id, is_lost in rows]

    def _claim_due(
        self, worker: int, now: datetime, limit: int, excluded: Sequence[str], queue: int
    ) -> list[tuple[Any, ...]]:
        if excluded or self.pauses:
            listed = self._listed(excluded)
            return self._all("claim_due_except", worker, queue, to_micros(now), listed, limit)
        return self._all("claim_due", worker, queue, to_micros(now), limit)

    def claim_timers(self, worker: int, now: datetime, limit: int) -> list[Claimed]:
        if worker in self._lost:
            return []
        rows = self._all("claim_timers", worker, 0, to_micros(now), limit)
        return [Claimed(run, execution_id, bool(is_lost)) for run, execution_id, is_lost in rows]

    def next_timer_at(self) -> datetime | None:
        (micros,) = self._row("next_timer_at", 0)
        return from_micros(micros) if micros is not None else None

    def next_due_at(self, excluded: Sequence[str], queue: int = 0) -> datetime | None:
        if excluded or self.pauses:
            listed = self._listed(excluded)
            (micros,) = self._row("next_due_at_except", queue, listed, queue, listed)
        else:
            (micros,) = self._row("next_due_at", queue, queue)
        return from_micros(micros) if micros is not None else None

    def release(self, worker: int, executions: Iterable[tuple[int, str]]) -> None:
        rows = [(run, execution_id, worker) for run, execution_id in executions]
        self._connection.executemany(STATEMENTS["release"], rows)

    def claim_projections(self, worker: int, limit: int) -> list[Projection]:
        if not self.is_alive(worker):
            return []
        return sorted(Projection(*row) for row in self._opened("claim_projections", worker, worker, limit))

    def delete_projections(self, seqs: Iterable[int]) -> None:
        self._connection.executemany(STATEMENTS["delete_projection"], [(seq,) for seq in seqs])

    def pause(self, flow: str, step: str | None, at: datetime) -> bool:
        row = (flow, step or "", to_micros(at))
        is_new = self._connection.execute(STATEMENTS["insert_pause"], row).rowcount == 1
        self.pauses = read_pauses(self._connection)
        return is_new

    def resume(self, flow: str, step: str | None) -> bool:
        was_paused = self._connection.execute(STATEMENTS["delete_pause"], (flow, step or "")).rowcount == 1
        self.pauses = read_pauses(self._connection)
        return was_paused

    # --- Queues ---

    def ready_queues(self, queues: Iterable[int], now: datetime) -> set[int]:
        return {queue for (queue,) in self._all("ready_queues", self._listed(queues), to_micros(now))}

    def hold_queues(self, queues: Iterable[int]) -> dict[int, int]:
        """Nobody else writes at all."""
        return self.spent_until(queues)

    def spend(self, queue: int, spent_until: int) -> None:
        self._connection.execute(STATEMENTS["spend"], (spent_until, queue))

    def set_queue(self, name: str, settings: str) -> int:
        known = self.queues.named(name)
        if known is None:
            self._connection.execute(STATEMENTS["insert_queue"], (name, settings))
        else:
            self._connection.execute(STATEMENTS["set_queue"], (settings, known.number))
        self.queues = self.find_queues()
        queue = self.queues.named(name)
        assert queue is not None
        return queue.number

    def delete_queue(self, queue: int) -> None:
        self._connection.execute(STATEMENTS["delete_queue"], (queue,))
        self.queues = self.find_queues()

    def calls(self) -> list[tuple[int, str, str, str, int]]:
        return self._all("calls")

    def set_step_queues(self, executions: Iterable[tuple[int, str, int]]) -> None:
        rows = [(queue, run, execution_id) for run, execution_id, queue in executions]
        self._connection.executemany(STATEMENTS["set_step_queue"], rows)

    # --- Workers ---

    def register_worker(
        self, alive_until: datetime, host: str, pid: int, process_started: str, serves: str = ""
    ) -> int:
        row = (to_micros(alive_until), host, pid, process_started, serves)
        cursor = self._connection.execute(STATEMENTS["insert_worker"], row)
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def renew_worker(self, worker: int, alive_until: datetime) -> bool:
        cursor = self._connection.execute(STATEMENTS["renew_worker"], (to_micros(alive_until), worker))
        return cursor.rowcount == 1

    def bury_worker(self, worker: int) -> int:
        self._alive.discard(worker)
        count = self._connection.execute(STATEMENTS["release_lost"], (worker,)).rowcount
        self._connection.execute(STATEMENTS["release_projections"], (worker,))
        self._connection.execute(STATEMENTS["delete_worker"], (worker,))
        return count

    def is_alive(self, worker: int) -> bool:
        if worker in self._alive:
            return True
        is_stored = any(row.worker == worker for row in self.workers())
        (self._alive if is_stored else self._lost).add(worker)
        return is_stored

    def ring(self) -> None:
        self.is_ring_due = True

    def call_for_work(self) -> None:
        """More processes would not get more done: they write one at a time."""

    def lend(self) -> AbstractContextManager[Loan]:
        return self._lender.lend(self._connection)

    def save_definition(self, hash: str, flow: str, path: str, text: str, at: datetime) -> None:
        self._connection.execute(STATEMENTS["insert_definition"], (hash, flow, path, text, to_micros(at)))
