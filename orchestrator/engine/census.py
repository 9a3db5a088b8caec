"""How much there is of everything at this moment: what a worker's metrics show as gauges."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from orchestrator.clock import Clock
from orchestrator.engine.dispatch import Dispatcher
from orchestrator.store.contract import Store
from orchestrator.store.queues import Queues

_SHARE = 20
"""Counting runs reads all of them: it may take one part in so many of the time."""
Values: TypeAlias = Mapping[tuple[tuple[str, str], ...], float]
"""By labels, names and texts."""
Gauge: TypeAlias = tuple[str, str, Values]
"""Name, help, values."""


class Census:
    def __init__(self, store: Store, dispatcher: Dispatcher, clock: Clock) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._clock = clock
        self._run_counts: Mapping[str, int] = {}
        self._count_again_at = float("-inf")
        self._lock = threading.Lock()

    def read(self) -> Iterator[Gauge]:
        """Raises StoreError."""
        with self._lock, self._store.reading() as reading:
            now = self._clock.now()
            counts = reading.work_counts(now)
            queues = reading.find_queues()
            oldest_at = reading.oldest_due_at()
            waited = (now - oldest_at).total_seconds() if oldest_at is not None else 0.0
            began_at = self._clock.monotonic()
            if began_at >= self._count_again_at:
                self._run_counts = reading.run_counts()
                ended_at = self._clock.monotonic()
                self._count_again_at = ended_at + _SHARE * (ended_at - began_at)
            run_counts = dict(self._run_counts)
        yield from _of_queues(queues, counts)
        dispatcher = self._dispatcher
        yield "runs", "Runs in the database.", {(("status", s),): n for s, n in run_counts.items()}
        leased_count = sum(leased for leased, _ in counts.values())
        yield "leased", "Step executions in the hands of workers.", {(): leased_count}
        due_count = sum(due for _, due in counts.values())
        yield "due", "Step executions that are due and in nobody's hands.", {(): due_count}
        yield "oldest_due_seconds", "How long the oldest of these has been due.", {(): max(0.0, waited)}
        yield "held", "Step executions in the hands of this worker.", {(): dispatcher.held_count}
        yield "handlers_running", "Handlers that run in this worker.", {(): dispatcher.running_count}


def _of_queues(queues: Queues, counts: Mapping[int, tuple[int, int]]) -> Iterator[Gauge]:
    if not queues:
        return
    leased: dict[tuple[tuple[str, str], ...], float] = {}
    due, limits = dict(leased), dict(leased)
    for queue in queues:
        labels = (("queue", queue.name),)
        leased[labels], due[labels] = counts.get(queue.number, (0, 0))
        if queue.settings.concurrency is not None:
            limits[labels] = queue.settings.concurrency
    yield "queue_leased", "Step executions of a queue in the hands of workers.", leased
    yield "queue_due", "Step executions of a queue that are due and in nobody's hands.", due
    yield "queue_concurrency", "How many of a queue may be in the hands of workers at a time.", limits
