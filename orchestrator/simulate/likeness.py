"""Whether a run does and stands as its story tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator.core import changes as c
from orchestrator.core.state import TIMEOUT_STEP, Status
from orchestrator.definition.model import Json
from orchestrator.definition.types import Type
from orchestrator.errors import OrchestratorError
from orchestrator.simulate.record import SimulatedRun
from orchestrator.simulate.storyline import Beat, BeatKind, Storyline


def is_told_end(ended: c.StepEnded, beat: Beat) -> bool:
    if beat.kind is BeatKind.FAILED:
        return ended.how == "failed"
    is_taken = beat.decision in (None, ended.decision) and ended.otherwise_count == beat.otherwise_count
    return ended.how == "completed" and is_taken


def are_told_starts(changes: Sequence[c.Change], beat: Beat, origin: str | None = None) -> bool:
    """As many executions of each step as the beat has."""
    started = [
        change.execution.step
        for change in changes
        if isinstance(change, c.StepQueued) and origin in (None, change.execution.origin)
    ]
    return Counter(started) == Counter(each.rpartition("-")[0] for each in beat.starts)


def fits_all(value: Json, types: Sequence[Type]) -> bool:
    for type in types:
        try:
            type.check(value)
        except OrchestratorError:
            return False
    return True


def difference_of(simulated: SimulatedRun, story: Storyline) -> str | None:
    """Where the run does not stand as the story says."""
    run = simulated.run
    if run.status != story.status:
        return f"the run is {run.status}, not {story.status}"
    active = Counter(each.step for each in run.executions.values() if each.step != TIMEOUT_STEP)
    told = Counter(step for each in story.active if (step := each.rpartition("-")[0]) != TIMEOUT_STEP)
    if run.status == Status.RUNNING and active != told:
        return f"active are {_counted(active)}, not {_counted(told)}"
    unread: Counter[str] = Counter()
    for (channel, _), queue in run.queues.items():
        unread[channel] += len(queue)
    for channel in simulated.flow.channels:
        if unread[channel] != story.unread.get(channel, 0):
            return f"{channel} has {unread[channel]} unread, not {story.unread.get(channel, 0)}"
    return None


def _counted(steps: Counter[str]) -> str:
    return (
        ", ".join(f"{step} x{count}" if count > 1 else step for step, count in sorted(steps.items()))
        or "none"
    )
