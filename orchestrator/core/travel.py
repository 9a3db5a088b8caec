"""Time travel (rules 191-196): back to an earlier point of a run, same run id, next run attempt.

The point is the state after one commit of the run's timeline. What clients did after it is done again, unless
they ask not to. Nothing is erased: the commit that travels says where the timeline forked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.events import (
    AttributesWritten,
    DeadlineSkipped,
    Event,
    MessagesPublished,
    RpcCalled,
    TimerSkipped,
    Watcher,
)
from orchestrator.core.image import image_of
from orchestrator.core.state import Execution, Phase, Run, Status
from orchestrator.core.transition import decide, evolve
from orchestrator.definition.model import Flow
from orchestrator.errors import InvalidValue, NotFound, OrchestratorError

REAPPLIED = (MessagesPublished, AttributesWritten, RpcCalled, TimerSkipped, DeadlineSkipped)
"""What clients do that is done again after the fork (rule 194)."""


class TimeTravelled(Struct, frozen=True, kw_only=True):
    """What history calls the commit that travels. No event of `decide`: it needs the whole history."""

    at: datetime


class Recorded(Struct, frozen=True):
    """One commit of a run's history. `event` is kept for what clients did."""

    version: int
    at: datetime
    changes: list[c.Change]
    event: Event | None = None


class _Act(Struct, frozen=True):
    version: int
    event: Event


class Target(Struct, frozen=True):
    """Exactly one of: nothing (the beginning), `time`, `step`, `execution_id` with `method`."""

    time: datetime | None = None
    step: str | None = None
    """Its first execution (section 4, choice 13)."""
    execution_id: str | None = None
    method: str | None = None
    """"wait_for": evaluate the wait anew; "execute": keep its result and run Execute anew."""


def travel(
    flow: Flow, history: Sequence[Recorded], target: Target, at: datetime, *, reapplies: bool = True
) -> list[c.Change]:
    """The changes of the commit that travels. Raises NotFound or InvalidValue for a bad target."""
    timeline = timeline_of(history)
    fork = find_fork(timeline, target)
    _demand_same_definition(timeline, fork)
    run = _run_after(timeline, fork)
    run.watchers = _watchers(timeline)
    image = replace(image_of(run), attempt=_attempts(history) + 1)
    travelled: list[c.Change] = [c.RunRestored(fork, history[-1].version, image, reapplies)]
    evolve(run, travelled)
    if reapplies:
        for act in _acts_of(history):
            if act.version > fork:
                travelled += _apply_again(flow, run, act.event, at)
    return [*travelled, *_requests_of_pending_children(timeline, run)]


def _run_after(timeline: Sequence[Recorded], version: int) -> Run:
    run = Run()
    for recorded in timeline:
        if recorded.version <= version:
            evolve(run, recorded.changes)
    if run.closed_at is not None:
        raise InvalidValue(
            f"commit {version} closed the run: nothing goes on after it, choose an earlier point"
        )
    return run


def timeline_of(history: Sequence[Recorded]) -> list[Recorded]:
    """The commits that led to the present state, without those that earlier travels left behind."""
    timeline: list[Recorded] = []
    for recorded in history:
        for change in recorded.changes:
            if isinstance(change, c.RunRestored):
                timeline = [kept for kept in timeline if kept.version <= change.forked_at]
        timeline.append(recorded)
    return timeline


def find_fork(timeline: Sequence[Recorded], target: Target) -> int:
    """The version after which the run goes on anew."""
    _check(target)
    if target.time is not None:
        versions = [r.version for r in timeline if r.at <= target.time and not _closes(r)]
        if not versions:
            raise NotFound(f"the run had not started at {target.time.isoformat()}")
        return versions[-1]
    if target.step is not None:
        return _queued(timeline, lambda execution: execution.step == target.step, f"step {target.step}")
    if target.execution_id is not None:
        name = target.execution_id
        queued = _queued(timeline, lambda execution: execution.id == name, name)
        return queued if target.method == "wait_for" else _execute_began(timeline, name, queued)
    return timeline[0].version


def _closes(recorded: Recorded) -> bool:
    return any(isinstance(change, c.RunClosed) for change in recorded.changes)


def _demand_same_definition(timeline: Sequence[Recorded], fork: int) -> None:
    """What the run was before it was moved to another definition, this definition does not understand."""
    moved_at = [
        recorded.version
        for recorded in timeline
        if any(isinstance(change, c.DefinitionChanged) for change in recorded.changes)
    ]
    if moved_at and moved_at[-1] > fork:
        raise InvalidValue(
            f"the run was moved to another definition by commit {moved_at[-1]}: it cannot go back to commit "
            f"{fork}, only to {moved_at[-1]} or later",
            migrated_at=moved_at[-1],
        )


def _check(target: Target) -> None:
    given = [x for x in (target.time, target.step, target.execution_id) if x is not None]
    if len(given) > 1:
        raise InvalidValue("give one target: a time, a step or a step execution")
    if (target.method is not None) != (target.execution_id is not None):
        raise InvalidValue("a step execution is given with its method, `wait_for` or `execute`; no other is")
    if target.method not in (None, "wait_for", "execute"):
        raise InvalidValue(f"a method is `wait_for` or `execute`, not {target.method!r}")


def _queued(timeline: Sequence[Recorded], matches: Callable[[Execution], bool], what: str) -> int:
    for recorded in timeline:
        for change in recorded.changes:
            if isinstance(change, c.StepQueued) and matches(change.execution):
                return recorded.version
    raise NotFound(f"the run has no execution of {what}")


def _execute_began(timeline: Sequence[Recorded], execution_id: str, queued: int) -> int:
    """After the wait was satisfied; for a step that decided in that very commit, before it."""
    began, before = None if _has_wait(timeline, execution_id) else queued, queued
    for recorded in timeline:
        for change in recorded.changes:
            if isinstance(change, c.StepEnded) and change.execution_id == execution_id and began is not None:
                return began if began < recorded.version else before
            if isinstance(change, c.WaitSatisfied | c.WaitSkipped) and change.execution_id == execution_id:
                began = recorded.version
        before = recorded.version
    if began is None:
        raise InvalidValue(f"{execution_id} has not reached its Execute")
    return began


def _has_wait(timeline: Sequence[Recorded], execution_id: str) -> bool:
    return any(
        isinstance(change, c.StepQueued)
        and change.execution.id == execution_id
        and change.execution.phase is Phase.WAIT_FOR
        for recorded in timeline
        for change in recorded.changes
    )


def _acts_of(history: Sequence[Recorded]) -> list[_Act]:
    """What clients did, in order, without what a travel was asked to leave out."""
    acts: list[_Act] = []
    for recorded in history:
        for change in recorded.changes:
            if isinstance(change, c.RunRestored) and not change.has_reapplied:
                acts = [act for act in acts if act.version <= change.forked_at]
        if isinstance(recorded.event, REAPPLIED):
            acts.append(_Act(recorded.version, recorded.event))
    return acts


def _apply_again(flow: Flow, run: Run, event: Event, at: datetime) -> list[c.Change]:
    try:
        changes = decide(flow, run, replace(event, at=at))
    except OrchestratorError:
        return []  # the run as it was then has no place for it: a rejected RPC, a timer that is not pending
    evolve(run, changes)
    return changes


def _attempts(history: Sequence[Recorded]) -> int:
    return 1 + sum(isinstance(change, c.RunRestored) for r in history for change in r.changes)


def _watchers(timeline: Sequence[Recorded]) -> list[Watcher]:
    """Parents that attached after the fork still wait for this run."""
    return [
        change.watcher
        for recorded in timeline
        for change in recorded.changes
        if isinstance(change, c.WatcherAdded)
    ]


def _requests_of_pending_children(timeline: Sequence[Recorded], run: Run) -> list[c.Change]:
    """A child that a kept wait asked for may have closed since: ask again, with the same request."""
    asked: dict[tuple[str, int], c.ChildRequested] = {}
    for recorded in timeline:
        for change in recorded.changes:
            if isinstance(change, c.ChildRequested):
                asked[change.execution_id, change.condition] = change
    return [
        asked[execution.id, index]
        for execution in run.executions.values()
        if execution.phase is Phase.WAITING and execution.wait is not None
        for index, condition in enumerate(execution.wait.conditions)
        if condition.child is not None
        and condition.child.status == Status.RUNNING
        and (execution.id, index) in asked
    ]
