"""How one change alters one execution: from one immutable value to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.events import Failure
from orchestrator.core.state import (
    BranchReport,
    ConditionResult,
    Execution,
    PendingCondition,
    Phase,
    QueuedMessage,
    QueueKey,
    RecoveredFailure,
    Round,
    Wait,
)


def accepted(execution: Execution, change: c.WaitAccepted) -> Execution:
    wait = Wait(change.order, change.combinator, change.conditions, change.groups)
    return replace(
        execution,
        locks=(),
        phase=Phase.WAITING,
        due_at=change.due_at,
        wait=wait,
        locals=change.locals,
        last_failure=None,
    )


def with_fired_timers(execution: Execution, change: c.TimersFired) -> Execution:
    wait = execution.wait
    assert wait is not None
    conditions = tuple(
        replace(condition, has_fired=True) if index in change.conditions else condition
        for index, condition in enumerate(wait.conditions)
    )
    return replace(execution, wait=replace(wait, conditions=conditions), due_at=change.due_at)


def satisfied(
    execution: Execution,
    change: c.WaitSatisfied,
    messages: dict[int, tuple[QueuedMessage, ...]],
    round_of: Callable[[str], Round],
) -> Execution:
    """Execute is next; `messages` are those taken, by condition index."""
    wait = execution.wait
    assert wait is not None
    fired, winners = set(change.fired), set(change.winners)
    results = []
    for index, condition in enumerate(wait.conditions):
        result = ConditionResult(index in winners, index in fired, messages.get(index, ()))
        if condition.round is not None:
            round = round_of(condition.round)
            seen = reports_seen(condition, round.reports)
            result = replace(result, reports=seen, branch_count=round.branch_count)
        results.append(result)
    return begin_execute(replace(execution, wait=replace(wait, results=tuple(results))), change.due_at)


def skipped(execution: Execution, change: c.WaitSkipped) -> Execution:
    failure = recovered(execution, change.failure, change.attempts)
    return begin_execute(replace(execution, failure=failure, has_wait_for_failed=True), change.due_at)


def retried(execution: Execution, change: c.AttemptFailed) -> Execution:
    return replace(
        execution,
        locks=(),
        attempt=execution.attempt + 1,
        due_at=change.due_at,
        last_failure=change.failure,
        first_attempt_at=change.first_attempt_at,
        has_started=execution.has_started or change.failure.has_started,
    )


def recovered(execution: Execution, failure: Failure, attempts: int) -> RecoveredFailure:
    """What the recovery step learns of a failure (rules 153, 155)."""
    has_started = execution.has_started or failure.has_started
    return RecoveredFailure(
        type=failure.type,
        message=failure.message,
        attempts=attempts,
        step_execution_id=execution.id,
        progress="NOT_COMPLETED" if has_started else "NOT_STARTED",
    )


def with_child(execution: Execution, change: c.ChildReported) -> Execution:
    wait = execution.wait
    assert wait is not None
    conditions = list(wait.conditions)
    child = conditions[change.condition].child
    assert child is not None
    child = replace(child, status=change.status, outputs=change.outputs, error=change.error)
    conditions[change.condition] = replace(conditions[change.condition], child=child)
    return replace(execution, wait=replace(wait, conditions=tuple(conditions)))


def with_locks(execution: Execution, change: c.LocksTaken) -> Execution:
    return replace(execution, locks=change.locks, wanted_locks=(), due_at=change.due_at)


def waiting_for_locks(execution: Execution, change: c.LocksAwaited) -> Execution:
    return replace(execution, wanted_locks=change.locks, lock_order=change.order, due_at=None)


def taken_messages(execution: Execution) -> dict[QueueKey, list[QueuedMessage]]:
    """Messages that the execution consumed and has not yet used up, by queue."""
    taken: dict[QueueKey, list[QueuedMessage]] = {}
    wait = execution.wait
    if wait is None or wait.results is None:
        return taken
    for condition, result in zip(wait.conditions, wait.results, strict=True):
        if result.messages and condition.channel is not None:
            taken.setdefault((condition.channel, condition.key), []).extend(result.messages)
    return taken


def wait_queues(wait: Wait) -> set[QueueKey]:
    """The queues whose messages, and the rounds whose reports, can make the wait hold."""
    keys: set[QueueKey] = set()
    for condition in wait.conditions:
        if condition.is_left_out:
            continue
        if condition.channel is not None:
            keys.add((condition.channel, condition.key))
        elif condition.round is not None:
            keys.add((condition.round, None))
    return keys


def reports_seen(condition: PendingCondition, reports: Sequence[BranchReport]) -> tuple[BranchReport, ...]:
    """What a join condition shows: with `need: N` that holds the N oldest, else all so far."""
    if isinstance(condition.need, int) and len(reports) >= condition.need:
        return tuple(reports[: condition.need])
    return tuple(reports)


def begin_execute(execution: Execution, due_at: datetime) -> Execution:
    return replace(
        execution,
        locks=(),
        heartbeat=None,
        phase=Phase.EXECUTE,
        due_at=due_at,
        attempt=1,
        first_attempt_at=None,
        last_failure=None,
        has_started=False,
    )
