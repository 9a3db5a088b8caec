"""Whether a run does and stands as its story tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator.core import changes as c
from orchestrator.core.state import TIMEOUT_STEP, Status
from orchestrator.definition.model import DeadEnd, Flow, GoTo, GracefulComplete, Json
from orchestrator.definition.types import Type
from orchestrator.errors import OrchestratorError
from orchestrator.simulate.casting import Part
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


def is_harmless(flow: Flow, part: Part, ended: c.StepEnded) -> bool:
    """The end of an execution that nothing holds up, and that changes nothing but what comes after it."""
    declared = flow.steps.get(part.step)
    if declared is None or declared.execute is not None or ended.how != "completed":
        return False
    if declared.wait_for is not None and part.satisfied is None:
        return False
    decision = declared.decisions[(ended.decision or 1) - 1]
    is_plain = not (decision.effects or decision.cancel or decision.cancel_siblings or decision.cancel_round)
    return is_plain and isinstance(decision.outcome, DeadEnd | GracefulComplete | GoTo)


class Tally:
    """How a run stands between any two changes, as far as stories tell: a commit passes through several."""

    def __init__(self, flow: Flow) -> None:
        self._channels = tuple(flow.channels)
        self._steps: dict[str, str] = {}
        """Of active executions."""
        self._messages: Counter[str] = Counter()
        self._waits: dict[str, c.WaitAccepted] = {}
        self._status = "RUNNING"
        self.overlooked: set[str] = set()
        """Executions that count as active when they have ended, since nothing could hold them up; what they
        have started does not."""

    def apply(self, change: c.Change) -> None:
        match change:
            case c.StepQueued() if change.execution.origin not in self.overlooked:
                self._steps[change.execution.id] = change.execution.step
            case c.StepEnded() if change.execution_id not in self.overlooked:
                self._steps.pop(change.execution_id, None)
            case c.WaitAccepted():
                self._waits[change.execution_id] = change
            case c.WaitSatisfied():
                conditions = self._waits[change.execution_id].conditions
                for index, seqs in change.taken:
                    self._messages[conditions[index].channel or ""] -= len(seqs)
            case c.MessageQueued():
                self._messages[change.channel] += 1
            case c.MessagesReturned():
                self._messages[change.channel] += len(change.messages)
            case c.MessagesDropped():
                self._messages[change.channel] -= len(change.seqs)
            case c.RunClosed():
                self._status = change.status
            case _:
                pass

    def difference(self, story: Storyline) -> str | None:
        """Where the run does not stand as the story says."""
        if self._status != story.status:
            return f"the run is {self._status}, not {story.status}"
        active = Counter(step for step in self._steps.values() if step != TIMEOUT_STEP)
        told = Counter(step for each in story.active if (step := each.rpartition("-")[0]) != TIMEOUT_STEP)
        if self._status == Status.RUNNING and active != told:
            return f"active are {_counted(active)}, not {_counted(told)}"
        for channel in self._channels:
            if self._messages[channel] != story.unread.get(channel, 0):
                return f"{channel} has {self._messages[channel]} unread, not {story.unread.get(channel, 0)}"
        return None


def _counted(steps: Counter[str]) -> str:
    shown = [f"{step} x{count}" if count > 1 else step for step, count in sorted(steps.items())]
    return ", ".join(shown) or "none"
