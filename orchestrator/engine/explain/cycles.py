"""Executions that wait for each other: nobody among them can be the first to move."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from orchestrator.core.state import Execution, PendingCondition
from orchestrator.engine.explain.chart import ActorKind
from orchestrator.engine.explain.explanation import Cycle
from orchestrator.engine.explain.outlook import Outlook
from orchestrator.engine.explain.prospects import Prospects
from orchestrator.engine.explain.words import names, queue_name


class _Waiters(Struct):
    """Executions of one step that need the same."""

    step: str
    needs: dict[str, frozenset[str]]
    """What they need: the steps whose executions could give it."""
    executions: list[Execution]

    @property
    def ids(self) -> list[str]:
        return [execution.id for execution in self.executions]


def find_cycles(prospects: Prospects) -> tuple[Cycle, ...]:
    """The largest sets in which each waits, perhaps through others, for each and itself."""
    waiters = _stuck_waiters(prospects)
    leads = [{index for index, other in enumerate(waiters) if _needs_from(each, other)} for each in waiters]
    reached = [_closure(index, leads) for index in range(len(waiters))]
    cycles: list[Cycle] = []
    seen: set[int] = set()
    for index in range(len(waiters)):
        if index in seen or index not in reached[index]:
            continue
        members = [other for other in reached[index] if index in reached[other]]
        seen.update(members)
        cycles.append(_describe([waiters[member] for member in sorted(members)]))
    return tuple(cycles)


def _stuck_waiters(prospects: Prospects) -> list[_Waiters]:
    found: dict[object, _Waiters] = {}
    for execution in prospects.active:
        if prospects.moves[execution.id] is not Outlook.NEVER or execution.wait is None:
            continue
        needs = dict(_needs(prospects, execution))
        identity = (execution.step, *needs)
        waiters = found.setdefault(identity, _Waiters(execution.step, needs, []))
        waiters.executions.append(execution)
    return list(found.values())


def _needs(prospects: Prospects, execution: Execution) -> Iterator[tuple[str, frozenset[str]]]:
    assert execution.wait is not None
    for condition in execution.wait.conditions:
        if condition.is_left_out or prospects.of_condition(condition) is not Outlook.NEVER:
            continue
        steps = frozenset(_givers(prospects, condition))
        if steps:
            yield _need_text(condition), steps


def _givers(prospects: Prospects, condition: PendingCondition) -> Iterator[str]:
    """Steps with executions that, could they move, could satisfy the condition or lead to what does."""
    if condition.round is not None:
        yield from (each.step for each in prospects.counting.get(condition.round, ()))
    if condition.channel is None or not prospects.can_hold(condition.channel, condition.minimum):
        return
    for sender in prospects.chart.senders_of(condition.channel, condition.key):
        actor = sender.actor
        if actor.kind is not ActorKind.STEP:
            continue
        for step in {execution.step for execution in prospects.active}:
            if (step == actor.name and not actor.in_wait) or actor.name in prospects.chart.after(step):
                yield step


def _need_text(condition: PendingCondition) -> str:
    if condition.channel is not None:
        return queue_name(condition.channel, condition.key)
    return f"reports of {condition.round}"


def _needs_from(waiters: _Waiters, other: _Waiters) -> bool:
    return any(other.step in steps for steps in waiters.needs.values())


def _closure(start: int, leads: list[set[int]]) -> set[int]:
    """What can be reached in one step or more."""
    seen: set[int] = set()
    left = list(leads[start])
    while left:
        index = left.pop()
        if index not in seen:
            seen.add(index)
            left += leads[index]
    return seen


def _describe(members: list[_Waiters]) -> Cycle:
    ids = [id for each in members for id in each.ids]
    clauses = [
        f"{names(each.ids)} {'needs' if len(each.ids) == 1 else 'need'} {need}, "
        f"which only {_givers_among(steps, each, members)} could send or lead to"
        for each in members
        for need, steps in each.needs.items()
        if any(other.step in steps for other in members)
    ]
    head = f"{names(ids)} wait for each other: " if len(members) > 1 else ""
    return Cycle(tuple(ids), head + "; ".join(clauses))


def _givers_among(steps: frozenset[str], waiters: _Waiters, members: list[_Waiters]) -> str:
    givers = [id for each in members if each.step in steps for id in each.ids]
    if givers == waiters.ids:
        return "it itself" if len(givers) == 1 else "they themselves"
    return names(givers, "or")
