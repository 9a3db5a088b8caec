"""Time travel over what a store knows of a run's history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from orchestrator.core import changes as c
from orchestrator.core.codec import decode, decode_event
from orchestrator.core.travel import Recorded, travel
from orchestrator.engine.cache import Entry
from orchestrator.engine.submission import Travel
from orchestrator.store.contract import HistoryRow
from orchestrator.store.times import from_micros


@dataclass(frozen=True, slots=True)
class Travelled:
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


def _recorded(row: HistoryRow) -> Recorded:
    event = decode_event(row.event) if row.event is not None else None
    return Recorded(row.version, from_micros(row.at), decode(row.body), event)
