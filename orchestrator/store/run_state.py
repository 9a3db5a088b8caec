"""What a run's row keeps of it besides columns."""

from __future__ import annotations

from msgspec import Struct

from orchestrator.core.events import Watcher
from orchestrator.core.state import Run
from orchestrator.definition.model import Json


class RunState(Struct, array_like=True, omit_defaults=True):
    next_seq: int = 1
    next_order: int = 1
    is_completing: bool = False
    counters: dict[str, int] = {}
    dropped_count: dict[str, int] = {}
    answers: dict[str, Json] = {}
    watchers: list[Watcher] = []
    skips: dict[str, tuple[str | int | None, ...]] = {}
    config: dict[str, Json] = {}


def state_of(run: Run) -> RunState:
    return RunState(
        run.next_seq,
        run.next_order,
        run.is_completing,
        run.counters,
        run.dropped_count,
        run.answers,
        run.watchers,
        run.skips,
        run.config,
    )
