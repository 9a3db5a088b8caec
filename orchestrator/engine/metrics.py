"""What a worker has done and is doing, for Prometheus. Names and labels are part of the contract.

Noting takes about a microsecond an event; counting what is in the database happens when somebody reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from orchestrator.core import changes as c
from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import Entry
from orchestrator.engine.census import Census
from orchestrator.engine.exposition import Counter, Histogram, family
from orchestrator.engine.task import Task

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_LIVES = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0, 604800.0, 2592000.0)
"""Seconds, up to thirty days."""
_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Metrics:
    """Of one worker; give it to `Worker(metrics=…)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._transactions = Counter("transactions_total", "Transactions.")
        self._commits = Counter("commits_total", "Commits of runs.")
        self._sizes = Histogram("transaction_commits", "Commits in one transaction.", _SIZES)
        self._starts = Counter("runs_started_total", "Runs begun here.", "flow")
        self._closings = Counter("runs_closed_total", "Runs closed here.", "flow", "status")
        self._lives = Histogram(
            "run_seconds", "From start to end of runs closed here.", _LIVES, "flow", "status"
        )
        self._queued = Counter(
            "step_executions_started_total", "Step executions that began here.", "flow", "step"
        )
        self._ended = Counter(
            "step_executions_total", "Step executions that ended here.", "flow", "step", "outcome"
        )
        self._failures = Counter(
            "failed_attempts_total", "Failed attempts, tried again or not.", "flow", "step"
        )
        self._retries = Counter("retries_total", "Failed attempts that are tried again.", "flow", "step")
        self._seconds = Histogram(
            "handler_seconds",
            "Time in handlers, but for transactional ones.",
            _SECONDS,
            "flow",
            "step",
            "method",
        )

    def note_batch(self, batch: Batch) -> None:
        """After a transaction."""
        if batch.is_empty:
            return
        with self._lock:
            self._transactions.add()
            self._commits.add(count=batch.event_count)
            self._sizes.note(batch.event_count)
            for applied in batch.applied:
                for change in applied.changes:
                    note = _NOTE.get(type(change))
                    if note is not None:
                        note(self, applied.entry, change)

    def _note_queued(self, entry: Entry, change: c.StepQueued) -> None:
        self._queued.add(entry.flow.name, change.execution.step)

    def _note_ended(self, entry: Entry, change: c.StepEnded) -> None:
        flow, step = entry.flow.name, _step_of(change.execution_id)
        self._ended.add(flow, step, change.how)
        if change.how == "failed":
            self._failures.add(flow, step)

    def _note_failed(self, entry: Entry, change: c.AttemptFailed | c.WaitSkipped) -> None:
        flow, step = entry.flow.name, _step_of(change.execution_id)
        self._failures.add(flow, step)
        if isinstance(change, c.AttemptFailed):
            self._retries.add(flow, step)

    def _note_opened(self, entry: Entry, _: c.RunOpened) -> None:
        self._starts.add(entry.flow.name)

    def _note_closed(self, entry: Entry, change: c.RunClosed) -> None:
        self._closings.add(entry.flow.name, change.status)
        if entry.run.started_at is not None:
            seconds = (change.at - entry.run.started_at).total_seconds()
            self._lives.note(seconds, entry.flow.name, change.status)

    def note_call(self, task: Task, seconds: float) -> None:
        """After a handler, whatever came of it."""
        with self._lock:
            method = "wait_for" if task.is_wait_for else "execute"
            self._seconds.note(seconds, task.flow, task.step, method)

    def as_text(self, census: Census) -> str:
        lines: list[str] = []
        for name, help, values in census.read():
            lines += family(name, "gauge", help, values)
        with self._lock:
            for each in vars(self).values():
                if isinstance(each, Counter | Histogram):
                    lines += each.lines()
        return "\n".join([*lines, ""])


_NOTE: dict[type, Callable[[Metrics, Entry, Any], None]] = {
    c.StepQueued: Metrics._note_queued,
    c.StepEnded: Metrics._note_ended,
    c.AttemptFailed: Metrics._note_failed,
    c.WaitSkipped: Metrics._note_failed,
    c.RunOpened: Metrics._note_opened,
    c.RunClosed: Metrics._note_closed,
}


def _step_of(execution_id: str) -> str:
    return execution_id.rpartition("-")[0]
