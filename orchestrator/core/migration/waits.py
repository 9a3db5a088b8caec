"""A wait that was accepted under the old definition, read by the new one.

An accepted wait keeps its conditions as they were evaluated. It may go on if what it can end with is what
the wait of the new definition can end with too: expressions and handlers then find what they expect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.core.migration.comparison import Comparison, Stand
from orchestrator.core.migration.fitting import Holding, misfit
from orchestrator.core.migration.verdicts import Obstacle
from orchestrator.core.state import Phase
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    JoinCondition,
    Step,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.graph.query import read_paths

_ALL = (Combinator.ALL_OF, Combinator.UNTIL)
_WORDS: dict[type[Condition], str] = {
    ChannelCondition: "a channel",
    TimerCondition: "a timer",
    JoinCondition: "a join",
    SubflowCondition: "a subflow",
}


def check_wait(case: Comparison, stand: Stand, source: Step, target: Step) -> Iterator[Obstacle]:
    """For executions whose wait is accepted or over."""
    before, after = source.wait_for, target.wait_for
    is_waiting = stand.phase is Phase.WAITING
    if after is None:
        if is_waiting:
            yield Obstacle(stand.place, f"step {target.name} no longer waits for anything")
        return
    if before is None:
        if after.conditions and _is_read(target):
            yield Obstacle(stand.place, f"step {target.name} reads a wait that this execution never made")
        yield from _check_locals(stand, None, after, target)
        return
    if stand.execution is not None and stand.execution.wait is None and not is_waiting:
        return  # its wait failed and the step went on without: nothing is satisfied, in the new wait neither
    yield from _check_conditions(case, stand, before, after, target, is_waiting=is_waiting)
    yield from _check_locals(stand, before, after, target)


def _is_read(target: Step) -> bool:
    """A handler is taken to read everything."""
    if target.execute is not None:
        return True
    return any(path[:1] == ("wait",) for path in read_paths((target.let, target.decisions)))


def _is_condition_read(target: Step, condition: str) -> bool:
    if target.execute is not None:
        return True
    paths = read_paths((target.let, target.decisions))
    return any(path[:1] == ("wait",) and path[1:2] in ((), (condition,)) for path in paths)


def _check_conditions(
    case: Comparison, stand: Stand, before: WaitFor, after: WaitFor, target: Step, *, is_waiting: bool
) -> Iterator[Obstacle]:
    declared = {c.id: c for c in after.conditions}
    for condition in before.conditions:
        name = case.renaming.condition(stand.step, condition.id)
        if name in declared:
            yield from _check_condition(case, stand, condition, declared[name], target, is_waiting=is_waiting)
        elif is_waiting or _is_satisfied_by(stand, condition.id):
            yield _lost(case, stand, condition, declared)
    yield from _check_combination(case, stand, before, after, target)


def _is_satisfied_by(stand: Stand, condition: str) -> bool:
    """Of a wait that is over: did this condition win? Statically it may have."""
    if stand.execution is None or stand.execution.wait is None:
        return True
    wait = stand.execution.wait
    results = wait.results or ()
    return any(
        pending.id == condition and result.is_satisfied
        for pending, result in zip(wait.conditions, results, strict=False)
    )


def _lost(case: Comparison, stand: Stand, gone: Condition, declared: dict[str, Condition]) -> Obstacle:
    same = replace(gone, id="")
    source = case.old.steps[stand.step].wait_for
    old_names = {c.id for c in source.conditions} if source is not None else set()
    candidates = [
        name
        for name, condition in declared.items()
        if name not in old_names and type(condition) is type(gone) and replace(condition, id="") == same
    ]
    reason = f"the accepted wait may end with condition {gone.id}, which the new definition does not have"
    mapping = f"condition:{stand.step}/{gone.id}={candidates[0]}" if len(candidates) == 1 else None
    return Obstacle(stand.place, reason, mapping)


def _check_combination(
    case: Comparison, stand: Stand, before: WaitFor, after: WaitFor, target: Step
) -> Iterator[Obstacle]:
    """Each set of conditions that the accepted wait can end with must be one the new one can end with."""
    if not _is_read(target) or after.combinator is Combinator.HANDLER:
        return  # a handler may build any wait out of what is declared
    endings = _endings(before)
    if endings is None:
        yield Obstacle(stand.place, "its wait was built by a handler; now it is declared")
        return
    declared = {c.id for c in after.conditions}
    needed = frozenset(name for name in declared if _is_condition_read(target, name))
    legal = _endings(after) or set()
    for ending in endings:
        renamed = frozenset(case.renaming.condition(stand.step, each) for each in ending)
        if not renamed <= declared:
            continue  # said of the condition that is gone
        if not (needed <= renamed if after.combinator in _ALL else renamed in legal):
            yield Obstacle(
                stand.place,
                f"the accepted wait ends with {' and '.join(sorted(ending))}, as the new one never does",
            )
            return


def _endings(wait: WaitFor) -> set[frozenset[str]] | None:
    """Which conditions are satisfied together when it is over; None: whatever a handler says."""
    names = [condition.id for condition in wait.conditions]
    if wait.combinator is Combinator.HANDLER:
        return None
    if wait.combinator is Combinator.ANY_OF:
        return {frozenset([name]) for name in names}
    if wait.combinator is Combinator.ANY_COMBINATION_OF:
        return {frozenset(group) for group in wait.groups}
    return {frozenset(names)} if names else set()


def _check_condition(
    case: Comparison,
    stand: Stand,
    before: Condition,
    after: Condition,
    target: Step,
    *,
    is_waiting: bool,
) -> Iterator[Obstacle]:
    is_read = _is_condition_read(target, after.id)
    if type(before) is not type(after):
        yield Obstacle(
            stand.place, f"condition {before.id} is {_WORDS[type(before)]}; now it is {_WORDS[type(after)]}"
        )
        return
    if (before.for_each is None) != (after.for_each is None):
        yield Obstacle(stand.place, f"condition {before.id} has got or lost its `for_each`")
        return
    is_certain = target.wait_for is not None and target.wait_for.combinator in _ALL
    if before.when is not None and after.when is None and is_certain and is_read:
        yield Obstacle(stand.place, f"condition {before.id} may have been left out; now it is always there")
    if isinstance(before, ChannelCondition) and isinstance(after, ChannelCondition):
        yield from _check_channel(case, stand, before, after, is_read=is_read, is_waiting=is_waiting)
    elif isinstance(before, JoinCondition) and isinstance(after, JoinCondition):
        yield from _check_join(case, stand, before, after, is_read=is_read)
    elif (
        isinstance(before, SubflowCondition)
        and isinstance(after, SubflowCondition)
        and before.flow != after.flow
    ):
        yield Obstacle(
            stand.place, f"condition {before.id} waits for flow {before.flow}; now for {after.flow}"
        )


def _check_channel(
    case: Comparison,
    stand: Stand,
    before: ChannelCondition,
    after: ChannelCondition,
    *,
    is_read: bool,
    is_waiting: bool,
) -> Iterator[Obstacle]:
    if case.renaming.channel(before.channel) != after.channel:
        is_gone, is_new = before.channel not in case.new.channels, after.channel not in case.old.channels
        mapping = f"channel:{before.channel}={after.channel}" if is_gone and is_new else None
        reason = f"condition {before.id} waits on channel {before.channel}; now on {after.channel}"
        yield Obstacle(stand.place, reason, mapping)
        return
    if is_waiting and before.key != after.key:
        yield Obstacle(stand.place, f"condition {before.id} waits under another key than messages now get")
    bounds = (before.exactly, before.at_least, before.at_most)
    if is_read and bounds != (after.exactly, after.at_least, after.at_most):
        yield Obstacle(stand.place, f"condition {before.id} took another number of messages than it now does")
    yield from _check_taken(case, stand, before, after)


def _check_taken(
    case: Comparison, stand: Stand, before: ChannelCondition, after: ChannelCondition
) -> Iterator[Obstacle]:
    """Messages that a wait that is over has taken."""
    if stand.phase is Phase.WAITING:
        return  # those still unread are looked at where they lie
    asked = case.new.channels[after.channel].type
    for held in _taken(case, stand, before):
        if (why := misfit(held, asked)) is not None:
            yield Obstacle(stand.place, f"a message taken from {before.channel} does not fit: {why}")
            return


def _taken(case: Comparison, stand: Stand, condition: ChannelCondition) -> Iterator[Holding]:
    if stand.execution is None:
        yield Holding(type=case.old.channels[condition.channel].type)
        return
    wait = stand.execution.wait
    for pending, result in zip(wait.conditions, wait.results or (), strict=False) if wait else ():
        if pending.id == condition.id:
            for message in result.messages:
                yield Holding(value=message.value, is_known=True)


def _check_join(
    case: Comparison, stand: Stand, before: JoinCondition, after: JoinCondition, *, is_read: bool
) -> Iterator[Obstacle]:
    if case.renaming.join(before.join) != after.join:
        is_gone, is_new = before.join not in case.new.joins, after.join not in case.old.joins
        mapping = f"join:{before.join}={after.join}" if is_gone and is_new else None
        reason = f"condition {before.id} waits for join {before.join}; now for {after.join}"
        yield Obstacle(stand.place, reason, mapping)
        return
    if is_read and before.need != after.need:
        yield Obstacle(stand.place, f"condition {before.id} needs another number of reports than it now does")
    if stand.phase is not Phase.WAITING and is_read:
        yield from _check_taken_reports(case, stand, before, after)


def _check_taken_reports(
    case: Comparison, stand: Stand, before: JoinCondition, after: JoinCondition
) -> Iterator[Obstacle]:
    asked = case.new.joins[after.join].type
    held = [Holding(type=case.old.joins[before.join].type)]
    if stand.execution is not None:
        wait = stand.execution.wait
        held = [
            Holding(value=report.value, is_known=True)
            for pending, result in (zip(wait.conditions, wait.results or (), strict=False) if wait else ())
            if pending.id == before.id
            for report in result.reports
        ]
    for each in held:
        if (why := misfit(each, asked)) is not None:
            yield Obstacle(stand.place, f"a report taken of {before.join} does not fit: {why}")
            return


def _check_locals(stand: Stand, before: WaitFor | None, after: WaitFor, target: Step) -> Iterator[Obstacle]:
    """`locals` were evaluated when the wait was accepted."""
    is_read = target.execute is not None or any(
        path[:1] == ("local",) for path in read_paths((target.let, target.decisions))
    )
    if not is_read:
        return
    kept = dict(before.locals) if before is not None else {}
    for name, value in after.locals:
        if kept.get(name) != value:
            yield Obstacle(
                stand.place, f"`local.{name}` was not kept, or not in this way, when its wait began"
            )
