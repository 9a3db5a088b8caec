"""Decisions: choose one, evaluate it as a whole, then do it (rules 117-136, language.md 5)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from orchestrator.core.changes import COMPLETED
from orchestrator.core.draft import Draft
from orchestrator.core.effects import PlannedEffect, PlannedReport, apply_effects, plan_effects, require_room
from orchestrator.core.evaluation import checked, elements, evaluate, holds
from orchestrator.core.failing import MethodFails, expression_failed
from orchestrator.core.frame import Frame
from orchestrator.core.reach import MAXIMUM_DEPTH, opens_branch
from orchestrator.core.rounds import innermost
from orchestrator.core.starting import start_step
from orchestrator.core.state import BranchRef, Execution, RunError, Status
from orchestrator.definition.expressions import Value
from orchestrator.definition.json_kinds import describe
from orchestrator.definition.model import (
    DeadEnd,
    Decision,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    Json,
    Movement,
    Outcome,
    Path,
    Rpc,
    Step,
)

IsEmpty = Callable[[str], bool]
"""Whether a channel (all instances of a map) has no unread message."""


class PlannedStart(Struct, frozen=True, gc=False):
    step: str
    input: Json
    options_path: Path | None
    is_branch: bool = False


class PlannedEnd(Struct, frozen=True, gc=False):
    """How the decider's branch ends, or the run."""

    has_output: bool = False
    output: Json = None
    status: Status | None = None
    """Set: the run closes now."""
    reason: str | None = None
    is_graceful: bool = False


class PlannedDecision(Struct, frozen=True, gc=False):
    """A decision with every expression evaluated."""

    position: int
    """In `decide`, from 1."""
    effects: list[PlannedEffect]
    cancel: tuple[str, ...]
    cancel_siblings: tuple[str, ...]
    cancel_rounds: tuple[str, ...]
    """Ids of rounds."""
    starts: list[PlannedStart]
    end: PlannedEnd | None
    opens: str | None = None
    """The join of which it opens a round."""
    otherwise_count: int = 0


def plan_decision(
    draft: Draft, step: Step, execution: Execution, result: Json, choice: str | None, is_empty: IsEmpty
) -> PlannedDecision:
    """Choose and evaluate on the run as the draft shows it; raises MethodFails, and does nothing."""
    frame = Frame(draft, execution, {step.result.name: result})
    position, decision = choose(step, "step", choice, frame)
    return evaluate_decision(draft, execution, frame, position, decision, is_empty)


def evaluate_decision(
    draft: Draft,
    execution: Execution,
    frame: Frame,
    position: int,
    decision: Decision,
    is_empty: IsEmpty,
) -> PlannedDecision:
    planned = _Planner(draft, execution, frame, is_empty).plan(position, decision)
    if planned.effects:
        require_room(draft, planned.effects)
    return planned


def choose(decider: Step | Rpc, kind: str, choice: str | None, frame: Frame) -> tuple[int, Decision]:
    """The first decision that holds, and its position from 1; a chosen word considers only its own."""
    if choice is not None and not any(decision.choice == choice for decision in decider.decisions):
        words = {decision.choice for decision in decider.decisions if decision.choice is not None}
        known = ", ".join(sorted(words)) or "none"
        what = f"{kind} {decider.name}"
        raise MethodFails("UnknownChoice", f"{what} has no decision for choice {choice}; known: {known}")
    for position, decision in enumerate(decider.decisions, start=1):
        if decision.choice == choice and (decision.when is None or holds(decision.when, frame)):
            return position, decision
    chosen = f" of choice {choice}" if choice is not None else ""
    raise MethodFails("NoDecision", f"no decision{chosen} of {kind} {decider.name} holds")


def _decider(execution: Execution) -> str:
    """For messages: the step, or the RPC in whose name it decides."""
    _, is_rpc, name = execution.step.partition("__rpc/")
    return f"RPC {name}" if is_rpc else f"step {execution.step}"


class _Planner:
    """Evaluates one decision and, where it has one, its `otherwise`."""

    __slots__ = ("_draft", "_execution", "_frame", "_is_empty")

    def __init__(self, draft: Draft, execution: Execution, frame: Frame, is_empty: IsEmpty) -> None:
        self._draft = draft
        self._execution = execution
        self._frame = frame
        self._is_empty = is_empty

    def plan(self, position: int, decision: Decision) -> PlannedDecision:
        effects = self._effects(decision) if decision.effects else []
        rounds = () if decision.cancel_round is None else self._cancelled_rounds(decision.cancel_round)
        outcome = decision.outcome
        starts: list[PlannedStart] = []
        end: PlannedEnd | None = None
        opens: str | None = None
        fallback: Decision | None = None
        if isinstance(outcome, GoTo):
            starts = self._moved(outcome.movement, is_branch=False)
        elif isinstance(outcome, GoToMany):
            starts, opens = self._starts(outcome), outcome.join
            fallback = None if starts else self._without_movements(outcome)
        elif isinstance(outcome, ForceCompleteIfChannelsEmpty) and not self._are_empty(outcome.channels):
            fallback = outcome.otherwise  # rule 129
        else:
            end = self._end(outcome)
        if fallback is not None:
            rest = self.plan(position, fallback)
            return PlannedDecision(
                position,
                effects + rest.effects,
                decision.cancel + rest.cancel,
                decision.cancel_siblings + rest.cancel_siblings,
                rounds + rest.cancel_rounds,
                rest.starts,
                rest.end,
                rest.opens,
                rest.otherwise_count + 1,
            )
        if opens is not None and len(self._execution.line) >= MAXIMUM_DEPTH:
            raise expression_failed(f"rounds are nested deeper than {MAXIMUM_DEPTH}")
        return PlannedDecision(
            position, effects, decision.cancel, decision.cancel_siblings, rounds, starts, end, opens
        )

    def _effects(self, decision: Decision) -> list[PlannedEffect]:
        return plan_effects(self._draft, self._execution, decision.effects, self._frame)

    def _cancelled_rounds(self, join: str) -> tuple[str, ...]:
        """The round faced, else the innermost one that the decider is in."""
        faced = self._execution.faces.get(join)
        position = innermost(self._execution.line, join)
        if faced is None and position is None:
            raise expression_failed(f"{self._execution.id} neither faces nor is in a round of join {join}")
        return (faced or self._execution.line[position or 0].round,)

    def _without_movements(self, outcome: GoToMany) -> Decision:
        if outcome.otherwise is None:
            raise MethodFails("NoDecision", f"no movement of {_decider(self._execution)} is left")
        return outcome.otherwise

    def _are_empty(self, channels: tuple[str, ...]) -> bool:
        return all(self._is_empty(channel) for channel in channels)

    def _starts(self, outcome: GoToMany) -> list[PlannedStart]:
        starts = []
        for movement in outcome.movements:
            join = outcome.join
            is_branch = join is not None and opens_branch(self._draft.flow, movement, join)
            starts += self._moved(movement, is_branch=is_branch)
        return starts

    def _moved(self, movement: Movement, *, is_branch: bool) -> list[PlannedStart]:
        target = self._draft.flow.steps[movement.step]
        options_path = movement.path if movement.options is not None else None
        starts = []
        for frame, element in elements(movement.for_each, movement.as_name, movement.when, self._frame):
            if movement.input is not None:
                given = evaluate(movement.input, frame)
            else:
                given = element if movement.for_each is not None else self._execution.input
            if target.input is None and movement.input is not None:
                raise expression_failed(f"step {target.name} takes no input")
            value = None if target.input is None else checked(given, target.input, f"input of {target.name}")
            starts.append(PlannedStart(target.name, value, options_path, is_branch))
        return starts

    def _end(self, outcome: Outcome | None) -> PlannedEnd:
        match outcome:
            case DeadEnd() | None:
                return PlannedEnd()
            case ForceFail():
                reason = evaluate(outcome.reason, self._frame)
                if not isinstance(reason, str):
                    raise expression_failed(f"`force_fail` needs a text, not {describe(reason)}")
                return PlannedEnd(status=Status.FAILED, reason=reason)
            case GracefulComplete():
                return self._completion(outcome.output, is_graceful=True)
            case ForceComplete() | ForceCompleteIfChannelsEmpty():
                return self._completion(outcome.output, is_graceful=False)
            case GoTo() | GoToMany():
                raise AssertionError("movements are planned before")

    def _completion(self, output: Value | None, *, is_graceful: bool) -> PlannedEnd:
        status = None if is_graceful else Status.COMPLETED
        if output is None:
            return PlannedEnd(status=status, is_graceful=is_graceful)
        value = evaluate(output, self._frame)
        if self._draft.flow.output is not None:
            value = checked(value, self._draft.flow.output, "output")
        return PlannedEnd(has_output=True, output=value, status=status, is_graceful=is_graceful)


def apply_decision(
    draft: Draft, execution: Execution, planned: PlannedDecision, handler_cancels: tuple[str, ...] = ()
) -> None:
    """Effects in the order written, cancels, then what it ends and starts."""
    apply_planned_effects(draft, execution, planned, handler_cancels)
    draft.end_step(execution, COMPLETED, None, planned.position, planned.otherwise_count)
    line = execution.line
    reported = [e.position for e in planned.effects if isinstance(e, PlannedReport)] if line else []
    started: list[Execution] = []
    if planned.starts or planned.opens is not None:
        left = line[: min(reported)] if reported else line
        started = start_planned(draft, execution, planned, left, origin=execution.id)
    if line or execution.faces:
        draft.rounds.end(execution, [line[position].round for position in reported], started)
    if planned.end is not None:
        _apply_end(draft, execution, planned.end)


def apply_planned_effects(
    draft: Draft, execution: Execution, planned: PlannedDecision, handler_cancels: tuple[str, ...]
) -> None:
    if planned.effects:
        apply_effects(draft, planned.effects)
    if handler_cancels or planned.cancel or planned.cancel_siblings:
        for victim in _cancelled(draft, execution, planned, handler_cancels):
            draft.cancel(victim)
    for round in planned.cancel_rounds:
        draft.cancel_round(round, execution)


def start_planned(
    draft: Draft,
    execution: Execution,
    planned: PlannedDecision,
    line: tuple[BranchRef, ...],
    *,
    origin: str,
) -> list[Execution]:
    """Movements hand `line` and what the decider faces on; a branch adds itself and faces nothing."""
    round, faces = "", execution.faces
    if planned.opens is not None:
        round = f"{planned.opens}/{execution.id}"
        draft.rounds.open(round, planned.opens, sum(start.is_branch for start in planned.starts))
        faces = {**faces, planned.opens: round}
    started: list[Execution] = []
    branch = 0
    for start in planned.starts:
        places = (*line, BranchRef(round, branch)) if start.is_branch else line
        branch += start.is_branch
        started.append(
            start_step(
                draft,
                start.step,
                start.input,
                origin=origin,
                options_path=start.options_path,
                line=places,
                faces={} if start.is_branch else faces,
            )
        )
    return started


def _cancelled(
    draft: Draft, execution: Execution, planned: PlannedDecision, handler_cancels: tuple[str, ...]
) -> list[Execution]:
    """Computed once, never the decider, before anything is started (rules 131-133)."""
    victims: dict[str, Execution] = {}
    for step in (*planned.cancel, *handler_cancels):
        victims.update((victim.id, victim) for victim in draft.active_of_step(step))
    if planned.cancel_siblings:
        siblings = draft.active_of_origin(execution.origin)
        victims.update((s.id, s) for s in siblings if s.step in planned.cancel_siblings)
    victims.pop(execution.id, None)
    return list(victims.values())


def _apply_end(draft: Draft, execution: Execution, end: PlannedEnd) -> None:
    if end.has_output:
        draft.add_output(execution, end.output)
    if end.is_graceful:
        draft.request_completion()
    if end.status is Status.FAILED:
        draft.close(end.status, RunError("force_fail", end.reason or "", execution.id))
    elif end.status is not None:
        draft.close(end.status)
