"""Waits: from conditions as declared to conditions as pending, and whether they hold (rules 58-91)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from orchestrator.core.changes import ChildRequested
from orchestrator.core.configuring import effective_config
from orchestrator.core.draft import Draft
from orchestrator.core.evaluation import count, evaluate, holds, listed, map_key
from orchestrator.core.events import HandlerWait
from orchestrator.core.failing import MethodFails, expression_failed
from orchestrator.core.frame import Frame
from orchestrator.core.rounds import DraftRound
from orchestrator.core.starting import check_flow_id
from orchestrator.core.state import Child, Execution, PendingCondition, QueueKey, Status, Wait
from orchestrator.definition.durations import parse_duration, parse_time
from orchestrator.definition.expressions import Value
from orchestrator.definition.json_kinds import describe
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    JoinCondition,
    Json,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.errors import InvalidValue

_KIND_ORDER = {"timer": 0, "channel": 1, "join": 1, "subflow": 2}


class PlannedWait(Struct, frozen=True, gc=False):
    combinator: str
    conditions: tuple[PendingCondition, ...]
    groups: tuple[tuple[int, ...], ...]
    """Candidates in the order tried; none: the wait holds at once."""

    @property
    def next_timer_at(self) -> datetime | None:
        return next_timer(self.conditions)


def plan_wait(
    draft: Draft, execution: Execution, wait_for: WaitFor, handler_wait: HandlerWait | None, frame: Frame
) -> PlannedWait:
    """Evaluate the conditions; raises MethodFails."""
    combinator, groups_of_ids = _combination(wait_for, handler_wait)
    used = {condition_id for group in groups_of_ids for condition_id in group}
    conditions: list[PendingCondition] = []
    members: dict[str, list[int]] = {}
    left_out: set[str] = set()
    for declared in wait_for.conditions:
        children_count = sum(condition.child is not None for condition in conditions)
        pending = _pend(draft, execution, declared, declared.id in used, children_count, frame)
        first = len(conditions)
        conditions.extend(pending)
        members[declared.id] = [first + i for i, p in enumerate(pending) if not p.is_left_out]
        if declared.for_each is None and not members[declared.id]:
            left_out.add(declared.id)
    if combinator in (Combinator.ANY_OF, Combinator.UNTIL, Combinator.ALL_OF):
        groups = _plain_groups(combinator, groups_of_ids, members, conditions)
    else:
        groups = tuple(
            tuple(index for condition_id in group for index in members[condition_id])
            for group in groups_of_ids
            if not left_out & set(group)
        )
    return PlannedWait(combinator, tuple(conditions), groups)


def _plain_groups(
    combinator: Combinator,
    groups_of_ids: tuple[tuple[str, ...], ...],
    members: dict[str, list[int]],
    conditions: list[PendingCondition],
) -> tuple[tuple[int, ...], ...]:
    indexes = [index for group in groups_of_ids for condition_id in group for index in members[condition_id]]
    if not indexes:
        return ()
    if combinator is not Combinator.ANY_OF:
        return (tuple(indexes),)
    by_kind = sorted(indexes, key=lambda index: _KIND_ORDER[conditions[index].kind])
    return tuple((index,) for index in by_kind)


def _combination(
    wait_for: WaitFor, handler_wait: HandlerWait | None
) -> tuple[Combinator, tuple[tuple[str, ...], ...]]:
    declared = tuple(condition.id for condition in wait_for.conditions)
    if wait_for.combinator is Combinator.HANDLER:
        if handler_wait is None:
            raise MethodFails("InvalidResult", "the wait_for handler returned no wait", is_retryable=True)
        _check_handler_wait(handler_wait, set(declared))
        return Combinator(handler_wait.combinator), handler_wait.groups
    if wait_for.combinator is Combinator.ANY_COMBINATION_OF:
        return wait_for.combinator, wait_for.groups
    if wait_for.combinator is Combinator.ANY_OF:
        return wait_for.combinator, tuple((condition_id,) for condition_id in declared)
    return wait_for.combinator, (declared,) if declared else ()


def _check_handler_wait(wait: HandlerWait, declared: set[str]) -> None:
    """Rules 61, 62."""
    if wait.combinator not in ("until", "any_of", "all_of", "any_combination_of", "none"):
        raise MethodFails("InvalidResult", f"unknown combinator {wait.combinator}", is_retryable=True)
    if wait.combinator == "any_combination_of" and not (wait.groups and all(wait.groups)):
        raise MethodFails(
            "InvalidResult",
            "any_combination_of needs at least one group, and no empty one",
            is_retryable=True,
        )
    for group in wait.groups:
        if len(set(group)) < len(group):
            raise MethodFails(
                "InvalidResult", f"a condition stands twice in {list(group)}", is_retryable=True
            )
        for condition_id in group:
            if condition_id not in declared:
                raise MethodFails(
                    "InvalidResult",
                    f"the wait_for handler names condition {condition_id}; declared are "
                    f"{', '.join(sorted(declared)) or 'none'}",
                    is_retryable=True,
                )


# --- Conditions, evaluated ----------------------------------------------------------------------------------


def _pend(
    draft: Draft,
    execution: Execution,
    declared: Condition,
    is_used: bool,
    children_count: int,
    frame: Frame,
) -> list[PendingCondition]:
    if declared.for_each is None:
        is_in = is_used and holds(declared.when, frame)
        return [
            _pend_one(draft, execution, declared, children_count, frame) if is_in else _left_out(declared)
        ]
    if not is_used:
        return []
    pending: list[PendingCondition] = []
    for element in listed(declared.for_each, frame):
        inner = frame.with_name(declared.as_name, element)
        is_in = holds(declared.when, inner)
        position = children_count + sum(c.child is not None for c in pending)
        condition = _pend_one(draft, execution, declared, position, inner) if is_in else _left_out(declared)
        pending.append(_of_element(condition, declared, inner, element))
    return pending


def _of_element(
    condition: PendingCondition, declared: Condition, frame: Frame, element: object
) -> PendingCondition:
    key = condition.key
    if condition.is_left_out and isinstance(declared, ChannelCondition):
        key = map_key(declared.key, frame)
    return PendingCondition(
        id=condition.id,
        kind=condition.kind,
        channel=condition.channel,
        key=key,
        minimum=condition.minimum,
        maximum=condition.maximum,
        fires_at=condition.fires_at,
        is_left_out=condition.is_left_out,
        round=condition.round,
        need=condition.need,
        child=condition.child,
        item=element,
        is_element=True,
    )


def _left_out(declared: Condition) -> PendingCondition:
    if isinstance(declared, ChannelCondition):
        return PendingCondition(declared.id, "channel", declared.channel, is_left_out=True)
    kind = next((kind for type, kind in _KINDS.items() if isinstance(declared, type)), "timer")
    return PendingCondition(declared.id, kind, is_left_out=True)


_KINDS = {JoinCondition: "join", SubflowCondition: "subflow"}


def _pend_one(
    draft: Draft, execution: Execution, declared: Condition, position: int, frame: Frame
) -> PendingCondition:
    if isinstance(declared, ChannelCondition):
        minimum, maximum = _bounds(declared, frame)
        key = map_key(declared.key, frame)
        return PendingCondition(declared.id, "channel", declared.channel, key, minimum, maximum)
    if isinstance(declared, JoinCondition):
        return _pend_join(declared, execution, frame)
    if isinstance(declared, TimerCondition):
        return PendingCondition(declared.id, "timer", fires_at=_fires_at(draft.at, declared, frame))
    if isinstance(declared, SubflowCondition):
        return _pend_subflow(draft, execution, declared, position, frame)
    raise AssertionError(f"condition {declared.id} is of no known kind")


def _pend_join(declared: JoinCondition, execution: Execution, frame: Frame) -> PendingCondition:
    """The round faced; facing none is an error."""
    round = execution.faces.get(declared.join)
    if round is None:
        raise expression_failed(f"{execution.id} faces no round of join {declared.join}")
    need: str | int
    if isinstance(declared.need, str):
        need = 1 if declared.need == "first" else declared.need
    else:
        need = count(declared.need, frame, "need")
    return PendingCondition(declared.id, "join", round=round, need=need)


def _pend_subflow(
    draft: Draft, execution: Execution, declared: SubflowCondition, position: int, frame: Frame
) -> PendingCondition:
    """`position`: among the subflow conditions of the wait, from 0 (rule 174)."""
    if declared.flow_id is None:
        flow_id = f"SubFlow:{draft.run.flow_id}-{execution.id}-{position}"
    else:
        flow_id = evaluate(declared.flow_id, frame)
        _check_child_id(flow_id)
    return PendingCondition(declared.id, "subflow", child=Child(flow_id, declared.if_abandoned))


def _check_child_id(flow_id: Json) -> None:
    if not isinstance(flow_id, str):
        raise expression_failed(f"`flow_id` must give a text, not {describe(flow_id)}")
    try:
        check_flow_id(flow_id)
    except InvalidValue as error:
        raise expression_failed(error.message) from None


def plan_children(
    draft: Draft,
    execution: Execution,
    wait_for: WaitFor,
    conditions: Sequence[PendingCondition],
    frame: Frame,
) -> list[ChildRequested]:
    """The child runs that the wait asks for once it is accepted (rules 173, 176)."""
    declared = {c.id: c for c in wait_for.conditions if isinstance(c, SubflowCondition)}
    run, requests = draft.run, []
    for index, pending in enumerate(conditions):
        if pending.child is None or pending.is_left_out:
            continue
        condition = declared[pending.id]
        inner = frame.with_name(condition.as_name, pending.item) if pending.is_element else frame
        timeout = None if condition.timeout is None else _duration(condition.timeout, inner, "timeout")
        requests.append(
            ChildRequested(
                execution_id=execution.id,
                condition=index,
                flow=condition.flow,
                flow_id=pending.child.flow_id,
                request_id=f"{run.run_id}/{run.attempt}/{execution.id}/{index}",
                reuse=condition.reuse,
                input=None if condition.input is None else evaluate(condition.input, inner),
                has_input=condition.input is not None,
                timeout=timeout,
                config={**effective_config(draft.flow, run), **(condition.config or {})},
            )
        )
    return requests


def _duration(value: Value, frame: Frame, what: str) -> timedelta:
    try:
        return parse_duration(evaluate(value, frame))
    except (ValueError, OverflowError) as error:
        raise expression_failed(f"`{what}: {value.text}`: {error}") from None


def _bounds(declared: ChannelCondition, frame: Frame) -> tuple[int, int | None]:
    if declared.exactly is not None:
        number = count(declared.exactly, frame, "for")
        return number, number
    if declared.at_least is None and declared.at_most is None:
        return 1, 1
    minimum = 0 if declared.at_least is None else count(declared.at_least, frame, "at_least")
    maximum = None if declared.at_most is None else count(declared.at_most, frame, "at_most")
    if maximum is not None and maximum < minimum:
        raise expression_failed(f"condition {declared.id}: at_most {maximum} is below at_least {minimum}")
    return minimum, maximum


def _fires_at(at: datetime, declared: TimerCondition, frame: Frame) -> datetime:
    """Rule 84: counted from acceptance, kept as an absolute time."""
    value = declared.at if declared.after is None else declared.after
    assert value is not None
    given = evaluate(value, frame)
    try:
        return parse_time(given) if declared.after is None else at + parse_duration(given)
    except (ValueError, OverflowError) as error:
        raise expression_failed(f"timer {declared.id} `{value.text}`: {error}") from None


def next_timer(conditions: Iterable[PendingCondition]) -> datetime | None:
    """When the earliest timer that has not fired does."""
    times = [c.fires_at for c in conditions if c.fires_at is not None and not c.has_fired]
    return min(times, default=None)


# --- Does a wait hold? --------------------------------------------------------------------------------------


class Win(Struct, frozen=True, gc=False):
    winners: tuple[int, ...]
    fired: tuple[int, ...]
    counts: dict[int, int]
    """Messages that each winning channel condition takes, in declared order."""


def fired_timers(wait: Wait, at: datetime) -> tuple[int, ...]:
    """Timers whose time has come (rule 80: also when they do not win)."""
    return tuple(
        index
        for index, condition in enumerate(wait.conditions)
        if condition.has_fired or (condition.fires_at is not None and condition.fires_at <= at)
    )


QueueSize: TypeAlias = Callable[[QueueKey], int]
FindRound: TypeAlias = Callable[[str], DraftRound]


def find_win(wait: Wait, at: datetime, queue_size: QueueSize, find_round: FindRound) -> Win | None:
    """The first candidate that holds, and what it consumes (rules 64-76). Pure: nothing is taken."""
    fired = fired_timers(wait, at)
    if not wait.groups:
        return Win((), fired, {})
    for group in wait.groups:
        win = win_of(wait, group, fired, queue_size, find_round)
        if win is not None:
            return win
    return None


def win_of(
    wait: Wait,
    group: tuple[int, ...],
    fired: tuple[int, ...],
    queue_size: QueueSize,
    find_round: FindRound,
) -> Win | None:
    """What this candidate consumes; None: it does not hold."""
    for index in group:
        if not _holds(wait.conditions[index], index in fired, find_round):
            return None
    counts = _allocate(wait, group, queue_size)
    return None if counts is None else Win(group, fired, counts)


def _holds(condition: PendingCondition, has_fired: bool, find_round: FindRound) -> bool:
    """Timers and joins; channels are looked at together, since they compete."""
    if condition.round is not None:
        return find_round(condition.round).holds(condition.need)
    if condition.child is not None:
        return condition.child.status != Status.RUNNING
    return condition.channel is not None or has_fired


def _allocate(wait: Wait, group: tuple[int, ...], queue_size: QueueSize) -> dict[int, int] | None:
    """Reserve every minimum, then hand out what is left up to each maximum (rule 75)."""
    counts: dict[int, int] = {}
    left: dict[QueueKey, int] = {}
    for index in sorted(group):
        condition = wait.conditions[index]
        if condition.channel is None:
            continue
        key = (condition.channel, condition.key)
        available = left.get(key)
        if available is None:
            available = queue_size(key)
        if available < condition.minimum:
            return None
        left[key] = available - condition.minimum
        counts[index] = condition.minimum
    for index in counts:
        condition = wait.conditions[index]
        assert condition.channel is not None
        key = (condition.channel, condition.key)
        room = left[key] if condition.maximum is None else condition.maximum - counts[index]
        extra = min(left[key], room)
        counts[index] += extra
        left[key] -= extra
    return counts
