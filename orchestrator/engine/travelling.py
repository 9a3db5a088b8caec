"""Time travel over what a store knows of a run's history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from orchestrator.core import changes as c
from orchestrator.core.codec import decode, decode_event
from orchestrator.core.travel import Recorded, TimeTravelled, travel
from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import Entry
from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Travel
from orchestrator.errors import NotFound
from orchestrator.store.contract import HistoryRow, Transaction
from orchestrator.store.times import from_micros


@dataclass(frozen=True, slots=True)
class Travelled:
    """The run goes on as `run_attempt` from what it was after commit `forked_at`."""

    flow_id: str
    run_id: str
    run_attempt: int
    forked_at: int
    """The run went on from what it was after this commit."""


def plan_travel(entry: Entry, rows: Iterable[HistoryRow], asked: Travel, at: datetime) -> list[c.Change]:
    """`rows`: the whole history. Raises NotFound or InvalidValue for a bad target."""
    recorded = [_recorded(row) for row in rows]
    return travel(entry.flow, recorded, asked.target, at, reapplies=asked.reapplies)


def travelled(entry: Entry, changes: list[c.Change]) -> Travelled:
    forked_at = next(change.forked_at for change in changes if isinstance(change, c.RunRestored))
    return Travelled(entry.run.flow_id, entry.run.run_id, entry.run.attempt, forked_at)


def travel_back(transaction: Transaction, batch: Batch, runs: Runs, asked: Travel) -> None:
    entry = runs.by_flow_id(transaction, asked.flow_id)
    if entry is None:
        raise NotFound(f"there is no run {asked.flow_id}", flow_id=asked.flow_id)
    rows = [*transaction.history(entry.number), *batch.history_of(entry.number)]
    changes = plan_travel(entry, rows, asked, batch.now)
    batch.record(entry, TimeTravelled(at=batch.now), changes)
    batch.receipts.append((asked.receipt, travelled(entry, changes)))


def _recorded(row: HistoryRow) -> Recorded:
    event = decode_event(row.event) if row.event is not None else None
    return Recorded(row.version, from_micros(row.at), decode(row.body), event)
