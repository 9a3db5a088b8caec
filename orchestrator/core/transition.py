"""The rules of execution: `decide(flow, run, event) -> changes`, pure; `evolve(run, changes)` applies them.

A stale or repeated event gives no changes. A refused client event raises and leaves the run untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from orchestrator.core.changes import FAILED, Change, WatcherAdded
from orchestrator.core.configuring import update_config
from orchestrator.core.deadlines import reach_deadline
from orchestrator.core.decisions import apply_decision, plan_decision
from orchestrator.core.draft import Draft
from orchestrator.core.effects import apply_effects, apply_handler_effects, plan_effects, require_room
from orchestrator.core.evaluation import evaluate
from orchestrator.core.events import (
    AttributesWritten,
    ConfigUpdated,
    DeadlineSkipped,
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    Heartbeaten,
    LocksRequested,
    MessagesPublished,
    RetryHastened,
    RpcCalled,
    RunStarted,
    StopRequested,
    SubflowClosed,
    SubflowRefused,
    TimerDue,
    TimerSkipped,
    WaitForFailed,
    WaitForSucceeded,
    WatcherAttached,
)
from orchestrator.core.evolve import evolve
from orchestrator.core.failing import MethodFails, invalid_result
from orchestrator.core.frame import Frame
from orchestrator.core.locks import grant_released_locks, take_locks
from orchestrator.core.progress import recovered
from orchestrator.core.publishing import publish_from_client
from orchestrator.core.retry import next_attempt_at
from orchestrator.core.rpcs import call_rpc
from orchestrator.core.settling import settle_waits
from orchestrator.core.starting import start_run, start_step
from orchestrator.core.state import Execution, Heartbeat, Phase, Run, RunError, Status
from orchestrator.core.steering import apply_remembered_skips, hasten_retry, skip_deadline, skip_timer
from orchestrator.core.subflows import refused_wait, report_child
from orchestrator.core.tasks import failure_route, method_options, proceeds_on_wait_failure, step_of
from orchestrator.core.waits import fired_timers, next_timer, plan_children, plan_wait
from orchestrator.core.writing import write_from_client
from orchestrator.definition.model import Flow, Json, Step
from orchestrator.errors import InvalidValue, NotActive

__all__ = ["decide", "evolve"]


def decide(flow: Flow, run: Run, event: Event, *, settles: bool = True) -> list[Change]:
    """What `event` changes in `run`. Reads only; costs in proportion to the changes.

    `settles` False: the event alone, without the waits that it ends and the completion that follows;
    for readers that look at these one by one.

    Raises Refused (InvalidValue, NotExternal, ChannelFull, …), NotFound or NotActive for client events.
    """
    draft = Draft(flow, run, event.at)
    try:
        _HANDLE[type(event)](draft, event)
    except MethodFails as fails:
        draft = Draft(flow, run, event.at)  # a failed attempt leaves no trace (rule 48)
        _fail_attempt(draft, event, fails.failure)
    if settles:
        _settle(draft)
    elif draft.is_open:
        draft.rounds.flush()
    return draft.changes


def _settle(draft: Draft) -> None:
    """Every wait that holds now ends; then the run completes if that was asked for and nothing is active."""
    settle_waits(draft, _enter_execute)
    if not draft.is_open:
        return
    if draft.released_locks:
        grant_released_locks(draft)
    if draft.flow.joins:
        draft.rounds.flush()
    if draft.is_completing and draft.active_count == 0:
        draft.close(Status.COMPLETED)


# --- Events -------------------------------------------------------------------------------------------------


def _start(draft: Draft, event: RunStarted) -> None:
    start_run(draft, event)


def _accept_wait(draft: Draft, event: WaitForSucceeded) -> None:
    execution = _current(draft, event.execution_id, Phase.WAIT_FOR, event.attempt)
    if execution is None:
        return
    wait_for = step_of(draft.flow, execution).wait_for
    assert wait_for is not None
    apply_handler_effects(draft, wait_for.handler, event.effects)
    frame = Frame(draft, execution)
    wait = plan_wait(draft, execution, wait_for, event.wait, frame)
    effects = plan_effects(draft, execution, wait_for.effects, frame)
    locals = {name: evaluate(value, frame) for name, value in wait_for.locals}
    children = plan_children(draft, execution, wait_for, wait.conditions, frame)
    require_room(draft, effects)
    apply_effects(draft, effects)
    for step in event.effects.cancels:
        for victim in draft.active_of_step(step):
            if victim.id != execution.id:
                draft.cancel(victim)
    for record in event.effects.records:
        draft.record(execution, record)
    accepted = draft.accept_wait(
        execution,
        wait.combinator,
        wait.conditions,
        wait.groups,
        wait.next_timer_at,
        {**event.effects.locals, **locals},
    )
    draft.changes.extend(children)
    skipped = apply_remembered_skips(draft, accepted, wait.conditions)
    if skipped:
        left = (c for index, c in enumerate(wait.conditions) if index not in skipped)
        draft.fire_timers(accepted, skipped, next_timer(left))


def _take_locks(draft: Draft, event: LocksRequested) -> None:
    execution = draft.execution(event.execution_id)
    if execution is not None and execution.attempt == event.attempt and not execution.locks:
        take_locks(draft, execution)


def _succeed(draft: Draft, event: ExecuteSucceeded) -> None:
    execution = _current(draft, event.execution_id, Phase.EXECUTE, event.attempt)
    if execution is None:
        return
    step = step_of(draft.flow, execution)
    result = _checked_result(step, event.result)
    effects = event.effects

    def is_empty(channel: str) -> bool:
        """Before this decision's and its handler's publishes."""
        return Draft(draft.flow, draft.run, draft.at).channel_size(channel) == 0

    apply_handler_effects(draft, step.execute, effects)
    for record in effects.records:
        draft.record(execution, record)
    _take_decision(draft, step, execution, result, event.choice, is_empty, effects.cancels)


def _checked_result(step: Step, result: Json) -> Json:
    if step.execute is None or step.result.type is None:
        return result
    try:
        return step.result.type.check(result)
    except InvalidValue as error:
        raise invalid_result(f"result of {step.execute.name}: {error.message}") from None


def _fail(draft: Draft, event: ExecuteFailed | WaitForFailed) -> None:
    phase = Phase.EXECUTE if isinstance(event, ExecuteFailed) else Phase.WAIT_FOR
    execution = _current(draft, event.execution_id, phase, event.attempt)
    if execution is not None:
        _fail_method(draft, execution, event.failure, event.started_at)


def _fire_timers(draft: Draft, event: TimerDue) -> None:
    execution = draft.execution(event.execution_id)
    if execution is None or execution.phase is not Phase.WAITING:
        return
    if execution.wait is None:
        reach_deadline(draft, execution)
        return
    wait = execution.wait
    fired = fired_timers(wait, event.at)
    new = tuple(index for index in fired if not wait.conditions[index].has_fired)
    if new:
        left = (c for index, c in enumerate(wait.conditions) if index not in fired)
        draft.fire_timers(execution, new, next_timer(left))


def _attach(draft: Draft, event: WatcherAttached) -> None:
    if draft.is_open and event.watcher not in draft.run.watchers:
        draft.changes.append(WatcherAdded(event.watcher))


def _refuse_child(draft: Draft, event: SubflowRefused) -> None:
    execution = refused_wait(draft, event)
    if execution is not None:
        failure = Failure("SubflowRefused", event.message, is_retryable=False)
        _fail_wait(draft, execution, failure)


def _keep_heartbeat(draft: Draft, event: Heartbeaten) -> None:
    execution = draft.execution(event.execution_id)
    if execution is not None and execution.attempt == event.attempt and execution.phase is not Phase.WAITING:
        draft.keep_heartbeat(execution, Heartbeat(event.value, event.at))


def _publish(draft: Draft, event: MessagesPublished) -> None:
    _require_open(draft)
    publish_from_client(draft, event)


def _stop(draft: Draft, event: StopRequested) -> None:
    """Rules 187-189; the first accepted stop decides (rule 20)."""
    _require_open(draft)
    if event.stop == "fail":
        message = event.reason or "the flow was failed by a client"
        draft.close(Status.FAILED, RunError("stopped", message))
    else:
        draft.close(Status.TERMINATED if event.stop == "terminate" else Status.CANCELED)


def _steer(act: Callable[[Draft, Any], None]) -> Callable[[Draft, Any], None]:
    def steer(draft: Draft, event: Event) -> None:
        _require_open(draft)
        act(draft, event)

    return steer


def _require_open(draft: Draft) -> None:
    if not draft.is_open:
        run = draft.run
        raise NotActive(
            f"run {run.flow_id} is closed: {run.status}", flow_id=run.flow_id, status=str(run.status)
        )


def _current(draft: Draft, execution_id: str, phase: Phase, attempt: int) -> Execution | None:
    """The execution that an attempt belongs to; None when the attempt is stale."""
    execution = draft.execution(execution_id)
    if not draft.is_open or execution is None or execution.phase is not phase or execution.attempt != attempt:
        return None
    return execution


# --- Execute and its decision -------------------------------------------------------------------------------


def _enter_execute(draft: Draft, execution: Execution) -> None:
    """The wait is over. A step without handler decides in this very commit."""
    step = step_of(draft.flow, execution)
    if step.execute is not None:
        return
    try:
        _take_decision(draft, step, execution, None, None, lambda name: draft.channel_size(name) == 0, ())
    except MethodFails as fails:
        _fail_method(draft, execution, fails.failure)


def _take_decision(
    draft: Draft,
    step: Step,
    execution: Execution,
    result: Json,
    choice: str | None,
    is_empty: Callable[[str], bool],
    cancels: tuple[str, ...],
) -> None:
    """`is_empty`: whether a channel is, for `force_complete_if_channels_empty`."""
    planned = plan_decision(draft, step, execution, result, choice, is_empty)
    apply_decision(draft, execution, planned, cancels)


# --- Failure ------------------------------------------------------------------------------------------------


def _fail_attempt(draft: Draft, event: Event, failure: Failure) -> None:
    """A handler succeeded, but what it gave is not accepted, or an expression failed."""
    assert isinstance(event, WaitForSucceeded | ExecuteSucceeded | LocksRequested)
    execution = draft.execution(event.execution_id)
    assert execution is not None
    if isinstance(event, LocksRequested):
        failure = replace(failure, has_started=False)  # it was not handed out (rule 155)
    _fail_method(draft, execution, failure)


def _fail_method(draft: Draft, execution: Execution, failure: Failure, started_at: Any = None) -> None:
    policy = method_options(draft.flow, execution).retry
    first_at = execution.first_attempt_at or started_at or draft.at
    due_at = next_attempt_at(policy, failure, execution.attempt, first_at, draft.at)
    if due_at is not None:
        draft.retry(execution, failure, due_at, first_at)
    elif execution.phase is Phase.EXECUTE:
        _fail_execute(draft, execution, failure)
    else:
        _fail_wait(draft, execution, failure)


def _fail_wait(draft: Draft, execution: Execution, failure: Failure) -> None:
    """WaitFor failed for good (rule 150)."""
    if proceeds_on_wait_failure(draft.flow, execution):
        _enter_execute(draft, draft.skip_wait(execution, failure, execution.attempt))
    else:
        _fail_run(draft, execution, failure)


def _fail_execute(draft: Draft, execution: Execution, failure: Failure) -> None:
    """Go to the recovery step with the same input (rules 151-153), or fail the run."""
    route = failure_route(draft.flow, execution)
    if route is None:
        _fail_run(draft, execution, failure)
        return
    draft.end_step(execution, FAILED, failure)
    takes_input = draft.flow.steps[route.step].input is not None
    recovery = start_step(
        draft,
        route.step,
        execution.input if takes_input else None,
        origin=execution.id,
        options_path=route.path if route.options is not None else None,
        failure=recovered(execution, failure, execution.attempt),
        line=execution.line,
        faces=execution.faces,
    )
    draft.rounds.end(execution, (), (recovery,))


def _fail_run(draft: Draft, execution: Execution, failure: Failure) -> None:
    """Rule 158."""
    attempts = execution.attempt
    draft.end_step(execution, FAILED, failure)
    error = RunError(
        "step_failed",
        f"{execution.id} failed: {failure.type}: {failure.message}",
        execution.id,
        {"type": failure.type, "message": failure.message, "attempts": attempts},
    )
    draft.close(Status.FAILED, error)


_HANDLE: dict[type, Callable[[Draft, Any], None]] = {
    RunStarted: _start,
    WaitForSucceeded: _accept_wait,
    WaitForFailed: _fail,
    LocksRequested: _take_locks,
    ExecuteSucceeded: _succeed,
    ExecuteFailed: _fail,
    TimerDue: _fire_timers,
    MessagesPublished: _publish,
    AttributesWritten: _steer(write_from_client),
    ConfigUpdated: _steer(update_config),
    StopRequested: _stop,
    RpcCalled: call_rpc,
    WatcherAttached: _attach,
    SubflowClosed: report_child,
    SubflowRefused: _refuse_child,
    Heartbeaten: _keep_heartbeat,
    TimerSkipped: _steer(skip_timer),
    DeadlineSkipped: _steer(skip_deadline),
    RetryHastened: _steer(hasten_retry),
}
