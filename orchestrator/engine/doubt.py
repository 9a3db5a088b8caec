"""Leases that a commit may have stored of which nobody knows whether it was stored (rule 156).

This worker does not work under them, and nobody else may: what is committed next releases them.
"""

from __future__ import annotations

from collections import defaultdict

from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import RunCache
from orchestrator.store.contract import Transaction


class Doubt:
    """Used under the commit lock only."""

    def __init__(self) -> None:
        self.leases: dict[tuple[int, str], int] = {}
        """By run and execution, to whom it may be leased."""

    def note(self, batch: Batch) -> None:
        self.leases |= {place: task.worker for place, task in batch.placed.items()}

    def release(self, transaction: Transaction, batch: Batch, cache: RunCache) -> None:
        by_worker: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for (run, execution_id), worker in self.leases.items():
            entry = cache.peek(run)
            if entry is None or execution_id not in entry.held:
                by_worker[worker].append((run, execution_id))
        for worker, executions in by_worker.items():
            transaction.release(worker, sorted(executions))
        transaction.ring()
        batch.has_left_work = True

    def end(self) -> None:
        """What was released is stored."""
        self.leases.clear()
