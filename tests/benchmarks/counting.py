"""What an engine commits, counted from its own notices."""

from __future__ import annotations

import threading

from orchestrator.engine.batch import Batch
from orchestrator.engine.engine import Engine


class Counted:
    """Commits and events of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.commit_count = 0
        self.event_count = 0
        before = engine.committer.on_commit

        def count(batch: Batch) -> None:
            if batch.event_count:
                self.commit_count += 1
                self.event_count += batch.event_count
            before(batch)

        engine.committer.on_commit = count


class Closings:
    """Counts runs that close, and wakes the one who waits for it."""

    def __init__(self, engine: Engine) -> None:
        self.count = 0
        self._woken = threading.Event()
        before = engine.committer.on_commit

        def note(batch: Batch) -> None:
            before(batch)
            if batch.has_closed_runs:
                self.count += sum(1 for entry in batch.entries.values() if entry.run.closed_at is not None)
                self._woken.set()

        engine.committer.on_commit = note

    def wait(self) -> None:
        self._woken.wait()
        self._woken.clear()
