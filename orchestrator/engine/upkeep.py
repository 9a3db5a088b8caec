"""Caring for a store: what is in it, deleting runs that closed long ago, giving space back."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from orchestrator.definition.model import Json
from orchestrator.engine import leases
from orchestrator.engine.arguments import another
from orchestrator.engine.describe import time_text
from orchestrator.engine.engine import Engine
from orchestrator.errors import StoreError, UsageError
from orchestrator.store.contract import Transaction

log = logging.getLogger("orchestrator.engine")

RUNS_AT_A_TIME = 100
_LONGEST_PAUSE = 1.0
"""Seconds."""
_LOOK_EVERY = timedelta(hours=1)


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def survey(engine: Engine) -> dict[str, Json]:
    """What `db status` shows."""
    now = engine.clock.now()
    file_bytes, log_bytes = engine.store.sizes()
    with engine.store.reading() as reading:
        found = reading.statistics(now)
        pauses = reading.find_pauses()
        workers = reading.workers()
    return {
        "db": engine.store.url,
        "schema_version": found.schema_version,
        "file_bytes": file_bytes,
        "wal_bytes": log_bytes,
        "free_bytes": found.free_bytes,
        "runs": dict(found.run_counts),
        "rows": dict(found.row_counts),
        "oldest_running_at": time_text(found.oldest_running_at),
        "oldest_closed_at": time_text(found.oldest_closed_at),
        "workers": sum(not leases.is_dead(worker, now) for worker in workers),
        "leased": found.leased_count,
        "due": found.due_count,
        "paused": sorted(f"{flow}/{step}" if step else flow for flow, step in pauses.targets),
    }


def cut_of(engine: Engine, older_than: timedelta) -> datetime:
    """Runs that were closed before then are old."""
    if not isinstance(older_than, timedelta):
        raise another("retention", "a timedelta", older_than)
    if older_than < timedelta():
        raise UsageError(f"runs are kept for a span of time, not {older_than}")
    return engine.clock.now() - older_than


def count_old(engine: Engine, before: datetime) -> int:
    with engine.store.reading() as reading:
        return reading.count_prunable(before)


def prune_all(
    engine: Engine,
    before: datetime,
    *,
    batch: int = RUNS_AT_A_TIME,
    pause: Callable[[float], bool] = _sleep,
) -> Iterator[int]:
    """Delete runs that were closed before then, a batch a transaction; yields how many, batch by batch.

    Between two batches it pauses for as long as one took, so that others have half of the time. `pause`: for
    so many seconds; True: that is enough for now.
    """
    while True:
        began_at = time.monotonic()
        count = prune_some(engine, before, batch)
        if count:
            yield count
        if count < batch or pause(min(time.monotonic() - began_at, _LONGEST_PAUSE)):
            return


def prune_some(engine: Engine, before: datetime, limit: int = RUNS_AT_A_TIME) -> int:
    """Delete a few of the oldest runs that were closed before then, in one transaction; how many."""
    pruned: list[int] = []

    def prune(transaction: Transaction, _: datetime) -> None:
        pruned.clear()
        pruned.extend(transaction.prune(before, limit))
        cache = engine.committer.runs.cache
        for number in pruned:
            if (entry := cache.get(number)) is not None:
                cache.drop(entry)
        if engine.bodies.may_be_objects:
            transaction.note_objects_left(pruned)

    engine.committer.exclusively(prune, "prune")
    _delete_objects(engine, pruned)
    return len(pruned)


def delete_objects_left(engine: Engine) -> int:
    """Those of runs whose pruning was cut short before their objects were deleted; of how many runs."""
    if not engine.bodies.may_be_objects:
        return 0
    with engine.store.reading() as reading:
        runs = reading.runs_with_objects_left()
    count = 0
    for start in range(0, len(runs), RUNS_AT_A_TIME):
        batch = runs[start : start + RUNS_AT_A_TIME]
        gone_count = _delete_objects(engine, batch)
        count += gone_count
        if gone_count < len(batch):
            break  # out of reach
    return count


def _delete_objects(engine: Engine, runs: Sequence[int]) -> int:
    """The pruning of these runs is stored. Who is killed in here, or before, leaves their marks behind."""
    gone = engine.bodies.forget(runs)

    def note(transaction: Transaction, _: datetime) -> None:
        transaction.note_objects_gone(gone)

    if gone:
        engine.committer.exclusively(note, "objects")
    return len(gone)


def prune_definitions(engine: Engine) -> int:
    """Delete definitions that no run uses, but for the latest of each flow type; how many."""
    pruned: list[str] = []

    def prune(transaction: Transaction, _: datetime) -> None:
        pruned.clear()
        pruned.extend(transaction.prune_definitions())

    engine.committer.exclusively(prune, "prune")
    engine.definitions.forget_stored(pruned)
    return len(pruned)


class Retention:
    """A thread that deletes runs some time after they were closed; many workers may have one."""

    def __init__(self, engine: Engine, span: timedelta) -> None:
        self._engine = engine
        self._span = span
        self._stop_asked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)
        cut_of(engine, span)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What is being deleted is finished."""
        self._stop_asked.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                self._tidy()
            except StoreError as error:
                log.warning("old runs could not be deleted: %s", error)
            if self._stop_asked.wait(_LOOK_EVERY.total_seconds()):
                return

    def _tidy(self) -> None:
        delete_objects_left(self._engine)
        before = cut_of(self._engine, self._span)
        count = sum(prune_all(self._engine, before, pause=self._stop_asked.wait))
        if count:
            prune_definitions(self._engine)
            log.info("deleted %d runs that were closed before %s", count, time_text(before))
