"""What operators do to a run: skip timers, hasten retries (rules 86-88, 186; cli.md)."""

from __future__ import annotations

from orchestrator.core.deadlines import reach_deadline
from orchestrator.core.draft import Draft
from orchestrator.core.events import DeadlineSkipped, RetryHastened, TimerSkipped
from orchestrator.core.state import TIMEOUT_ID, Execution, PendingCondition, Phase
from orchestrator.core.waits import next_timer
from orchestrator.definition.model import TimerCondition
from orchestrator.errors import InvalidValue, NotFound


def skip_timer(draft: Draft, event: TimerSkipped) -> None:
    """The timer counts as fired (rule 87); one that does not exist yet is remembered (rule 88).

    Raises NotFound for an execution that is over or unknown, InvalidValue for a condition that is no timer.
    """
    execution = draft.execution(event.execution_id)
    if execution is None:
        if _is_to_come(draft, event.execution_id):
            draft.remember_skip(event.execution_id, event.condition)
            return
        raise NotFound(f"{event.execution_id} is not active", step_execution_id=event.execution_id)
    if execution.phase is Phase.WAIT_FOR:
        _require_declared_timer(draft, execution, event.condition)
        draft.remember_skip(execution.id, event.condition)
        return
    if execution.phase is not Phase.WAITING or execution.wait is None:
        raise InvalidValue(f"{execution.id} waits for no timer", step_execution_id=execution.id)
    index = _find_timer(execution.id, execution.wait.conditions, event.condition)
    left = (c for i, c in enumerate(execution.wait.conditions) if i != index)
    draft.fire_timers(execution, (index,), next_timer(left))


def skip_deadline(draft: Draft, _: DeadlineSkipped) -> None:
    execution = draft.execution(TIMEOUT_ID)
    if execution is None or execution.phase is not Phase.WAITING:
        raise NotFound(f"run {draft.run.flow_id} has no deadline to come")
    reach_deadline(draft, execution, is_early=True)


def hasten_retry(draft: Draft, event: RetryHastened) -> None:
    """The next attempt is due now."""
    execution = draft.execution(event.execution_id)
    if execution is None:
        raise NotFound(f"{event.execution_id} is not active", step_execution_id=event.execution_id)
    if execution.last_failure is None or execution.due_at is None or execution.due_at <= draft.at:
        raise InvalidValue(f"{execution.id} is not backing off", step_execution_id=execution.id)
    draft.hasten(execution)


def apply_remembered_skips(
    draft: Draft, execution: Execution, conditions: tuple[PendingCondition, ...]
) -> tuple[int, ...]:
    """Which of the timers of a wait that is now accepted were skipped before."""
    skipped = []
    for selector in draft.skips(execution.id):
        try:
            skipped.append(_find_timer(execution.id, conditions, selector))
        except InvalidValue:
            continue  # the wait has no such timer after all
    return tuple(skipped)


def _is_to_come(draft: Draft, execution_id: str) -> bool:
    step, _, number = execution_id.rpartition("-")
    return step in draft.flow.steps and number.isdigit() and int(number) >= draft.next_number(step)


def _require_declared_timer(draft: Draft, execution: Execution, selector: str | int | None) -> None:
    wait_for = draft.flow.steps[execution.step].wait_for
    timers = [c.id for c in (wait_for.conditions if wait_for else ()) if isinstance(c, TimerCondition)]
    if not timers or (isinstance(selector, str) and selector not in timers):
        raise InvalidValue(
            f"{execution.id} has no timer {selector or ''}".rstrip(), step_execution_id=execution.id
        )


def _find_timer(
    execution_id: str, conditions: tuple[PendingCondition, ...], selector: str | int | None
) -> int:
    """By condition id, by position among the timers (from 0), or the only one."""
    timers = [i for i, c in enumerate(conditions) if c.fires_at is not None]
    matching = [i for i in timers if conditions[i].id == selector] if isinstance(selector, str) else timers
    if isinstance(selector, int):
        matching = timers[selector : selector + 1] if selector >= 0 else []
    if selector is None and len(timers) > 1:
        names = ", ".join(conditions[i].id for i in timers)
        raise InvalidValue(f"{execution_id} waits for several timers: say which of {names}")
    pending = [i for i in matching if not conditions[i].has_fired]
    if not pending:
        raise InvalidValue(
            f"{execution_id} has no pending timer {'' if selector is None else selector}".rstrip()
        )
    return pending[0]
