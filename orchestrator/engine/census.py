"""How much there is of everything at this moment: what a worker's metrics show as gauges."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from orchestrator.clock import Clock
from orchestrator.engine.dispatch import Dispatcher
from orchestrator.store.contract import Store

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
            leased_count, due_count = reading.work_counts(now)
            oldest_at = reading.oldest_due_at()
            waited = (now - oldest_at).total_seconds() if oldest_at is not None else 0.0
            began_at = self._clock.monotonic()
            if began_at >= self._count_again_at:
                self._run_counts = reading.run_counts()
                ended_at = self._clock.monotonic()
                self._count_again_at = ended_at + _SHARE * (ended_at - began_at)
            run_counts = dict(self._run_counts)
        dispatcher = self._dispatcher
        yield "runs", "Runs in the database.", {(("status", s),): n for s, n in run_counts.items()}
        yield "leased", "Step executions in the hands of workers.", {(): leased_count}
        yield "due", "Step executions that are due and in nobody's hands.", {(): due_count}
        yield "oldest_due_seconds", "How long the oldest of these has been due.", {(): max(0.0, waited)}
        yield "held", "Step executions in the hands of this worker.", {(): dispatcher.held_count}
        yield "handlers_running", "Handlers that run in this worker.", {(): dispatcher.running_count}
