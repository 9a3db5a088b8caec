"""Where an execution can be, as far as it matters to where it goes: all in one place are alike."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from msgspec.structs import replace

from orchestrator.core.progress import taken_messages
from orchestrator.core.state import (
    BranchRef,
    BranchReport,
    Child,
    ConditionResult,
    Execution,
    PendingCondition,
    Phase,
    QueuedMessage,
    QueueKey,
    RecoveredFailure,
    Status,
    Wait,
)
from orchestrator.definition.model import Flow, Path
from orchestrator.verify.relevance import Relevance
from orchestrator.verify.unknown import NOTHING, Frozen, Unknown, freeze, thaw

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Place(NamedTuple):
    """A step, its phase, and what it remembers."""

    step: str
    phase: Phase
    wait: Wait | None
    """Pending, or with results; without values and times."""
    input: Frozen
    locals: tuple[tuple[str, Frozen], ...]
    has_wait_for_failed: bool
    is_recovery: bool
    options_path: Path | None
    line: tuple[str, ...]
    """Rounds it is inside of."""
    faces: tuple[tuple[str, str], ...]
    origin: str

    @property
    def is_executing(self) -> bool:
        return self.phase is Phase.EXECUTE

    @property
    def taken(self) -> dict[QueueKey, int]:
        """Messages that it has consumed and would give back if it were cancelled."""
        wait = self.wait
        if wait is None or wait.results is None:
            return {}
        execution = Execution(step=self.step, number=1, origin="", phase=self.phase, wait=wait)
        return {key: len(messages) for key, messages in taken_messages(execution).items()}


class Places:
    """From executions to places and back, for one definition."""

    def __init__(self, flow: Flow, relevance: Relevance, *, keeps_origins: bool) -> None:
        self._flow = flow
        self._relevance = relevance
        self._keeps_origins = keeps_origins
        self._input_types = {name: step.input for name, step in flow.steps.items()}

    def freeze(self, execution: Execution) -> Place:
        kept, faces = self._relevance.locals, execution.faces
        return Place(
            execution.step,
            execution.phase,
            None if execution.wait is None else _plain(execution.wait),
            freeze(execution.input, self._relevance.inputs.get(execution.step, NOTHING)),
            tuple([(n, freeze(v)) for n, v in sorted(execution.locals.items()) if n in kept]) if kept else (),
            execution.has_wait_for_failed,
            execution.failure is not None,
            execution.options_path,
            tuple([branch.round for branch in execution.line]),
            tuple(sorted(faces.items())) if faces else (),
            execution.origin if self._keeps_origins else "",
        )

    def thaw(self, place: Place, number: int) -> Execution:
        """A fresh execution there."""
        return Execution(
            step=place.step,
            number=number,
            origin=place.origin,
            phase=place.phase,
            due_at=NOW,
            input=self._thaw_input(place),
            wait=None if place.wait is None else self._with_values(place.wait),
            locals={name: thaw(value) for name, value in place.locals},
            has_wait_for_failed=place.has_wait_for_failed,
            failure=_FAILURE if place.is_recovery else None,
            line=tuple(BranchRef(round, 0) for round in place.line),
            faces=dict(place.faces),
            options_path=place.options_path,
        )

    def _thaw_input(self, place: Place) -> object:
        type = self._input_types.get(place.step)
        return None if type is None else thaw(place.input, type)

    def _with_values(self, wait: Wait) -> Wait:
        """What was taken is unknown, but it is there."""
        wait = replace(wait, conditions=tuple(map(_with_unknown_child, wait.conditions)))
        if wait.results is None:
            return wait
        pairs = zip(wait.conditions, wait.results, strict=True)
        return replace(wait, results=tuple(self._result(condition, result) for condition, result in pairs))

    def _result(self, condition: PendingCondition, result: ConditionResult) -> ConditionResult:
        if result.messages and condition.channel is not None:
            type = self._flow.channels[condition.channel].type
            is_never_null = not type.admits_null
            messages = tuple(
                QueuedMessage(seq + 1, Unknown(type, is_never_null=is_never_null))
                for seq, _ in enumerate(result.messages)
            )
            return replace(result, messages=messages)
        if result.reports and condition.round is not None:
            type = self._flow.joins[condition.round.partition("/")[0]].type
            return replace(result, reports=tuple(BranchReport(0, Unknown(type)) for _ in result.reports))
        return result


_FAILURE = RecoveredFailure("Error", "it failed", 1, "", "NOT_COMPLETED")


def _plain(wait: Wait) -> Wait:
    conditions = tuple(map(_plain_condition, wait.conditions))
    results = None if wait.results is None else tuple(map(_plain_result, wait.results))
    return Wait(0, wait.combinator, conditions, wait.groups, results)


def _plain_condition(condition: PendingCondition) -> PendingCondition:
    child = condition.child
    if child is not None:
        child = Child(child.flow_id, child.if_abandoned, child.status)
    return replace(condition, fires_at=None, item=None, child=child)


def _with_unknown_child(condition: PendingCondition) -> PendingCondition:
    child = condition.child
    if child is None or child.status == Status.RUNNING:
        return condition
    if child.status == Status.COMPLETED:
        return replace(condition, child=replace(child, outputs=(Unknown(),)))
    return replace(condition, child=replace(child, error={"type": Unknown(), "message": Unknown()}))


def _plain_result(result: ConditionResult) -> ConditionResult:
    return replace(
        result,
        messages=(QueuedMessage(0, None),) * len(result.messages),
        reports=(BranchReport(0, None),) * len(result.reports),
    )
