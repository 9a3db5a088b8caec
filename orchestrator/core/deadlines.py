"""The deadline of a run (rules 181-186): a pseudo-execution that waits for it, and never counts as active."""

from __future__ import annotations

from datetime import datetime, timedelta

from orchestrator.core.draft import Draft
from orchestrator.core.events import RunStarted
from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase, RunError, Status
from orchestrator.definition.durations import LONGEST
from orchestrator.definition.model import Flow, FlowTimeout, TimeoutPolicy
from orchestrator.errors import InvalidValue


def deadline_of(flow: Flow, event: RunStarted) -> FlowTimeout | None:
    """The start's own timeout replaces the duration; without a policy of its own the flow's stays."""
    after = event.timeout if event.timeout is not None else (flow.timeout.after if flow.timeout else None)
    check_span("timeout", after)
    if not after:
        if event.timeout_policy is not None:
            raise InvalidValue("a timeout policy needs a timeout above zero")
        return None
    policy = _policy(flow, event.timeout_policy)
    return FlowTimeout(after, policy)


def check_span(name: str, span: timedelta | None) -> None:
    """`delay` and `timeout` of a start; raises InvalidValue."""
    if span is None or timedelta(0) <= span <= LONGEST:
        return
    wrong = "must not be negative" if span < timedelta(0) else "is longer than any time can be"
    raise InvalidValue(f"the {name} {wrong}", **{name.rpartition(" ")[2]: span.total_seconds()})


def _policy(flow: Flow, asked: str | None) -> TimeoutPolicy:
    if asked is not None:
        policy = TimeoutPolicy(asked)
    elif flow.timeout is not None:
        policy = flow.timeout.policy
    else:
        policy = TimeoutPolicy.HANDLER if flow.on_timeout is not None else TimeoutPolicy.FAIL
    if policy is TimeoutPolicy.HANDLER and flow.on_timeout is None:
        raise InvalidValue(f"flow {flow.name} has no `on_timeout`: its timeout policy cannot be `handler`")
    return policy


def arm_deadline(draft: Draft, event: RunStarted, origin: str) -> None:
    timeout = deadline_of(draft.flow, event)
    if timeout is None:
        return
    draft.queue_step(
        Execution(
            step=TIMEOUT_STEP,
            number=1,
            origin=origin,
            phase=Phase.WAITING,
            due_at=event.at + timeout.after,
            locals={"policy": timeout.policy.value},
        )
    )


def reach_deadline(draft: Draft, execution: Execution, *, is_early: bool = False) -> None:
    """Apply the policy. `is_early`: fired by a client (rule 186)."""
    deadline: datetime | None = execution.due_at
    if deadline is None or (deadline > draft.at and not is_early):
        return
    match TimeoutPolicy(execution.locals["policy"]):
        case TimeoutPolicy.FAIL:
            draft.close(Status.FAILED, RunError("timeout", _message(draft, deadline)))
        case TimeoutPolicy.CANCEL:
            draft.close(Status.CANCELED)
        case TimeoutPolicy.HANDLER:
            draft.begin_timeout_handler(execution)


def _message(draft: Draft, deadline: datetime) -> str:
    started_at = draft.run.started_at
    assert started_at is not None
    return f"the flow did not close within {(deadline - started_at).total_seconds():g} seconds"
