"""Waits that count what branches publish: how many are awaited, how many come, who gives none or two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Decision,
    Flow,
    GoToMany,
    Movement,
    Step,
    TimerCondition,
)
from orchestrator.definition.values import Literal, Value
from orchestrator.graph.counts import size_of_list
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.lengths import Length, length_of, length_of_list
from orchestrator.graph.lineages import Lineages
from orchestrator.graph.paths import Paths
from orchestrator.graph.query import with_otherwise
from orchestrator.graph.usage import Usage


@dataclass(frozen=True, slots=True)
class CountingWait:
    """A fan-out of which one movement leads to a wait that counts what the others publish."""

    splitter: Step
    decision: Decision
    waiter: Movement
    condition: ChannelCondition
    branches: tuple[Movement, ...]
    """Movements from which the channel can be published."""
    is_only_way: bool
    """Nothing else ends the wait, no timer either."""


def counting_waits(flow: Flow, usages: dict[str, Usage], paths: Paths) -> Iterator[CountingWait]:
    """Of channels to which only steps publish."""
    for step in flow.steps.values():
        for _, decision, _ in with_otherwise(step.decisions):
            outcome = decision.outcome
            if not isinstance(outcome, GoToMany) or len(outcome.movements) < 2:
                continue
            for waiter in outcome.movements:
                for condition, is_only_way in _counting_conditions(flow.steps[waiter.step]):
                    usage = usages[condition.channel]
                    publishers = {publisher.step for publisher in usage.publishers}
                    others = [m for m in outcome.movements if m is not waiter]
                    branches = tuple(m for m in others if publishers & paths.after(m.step))
                    is_inside = not usage.outsiders and not flow.channels[condition.channel].is_external
                    if branches and is_inside and waiter.for_each is None and waiter.when is None:
                        yield CountingWait(step, decision, waiter, condition, branches, is_only_way)


def _counting_conditions(step: Step) -> Iterator[tuple[ChannelCondition, bool]]:
    wait = step.wait_for
    if wait is None or wait.combinator not in (Combinator.UNTIL, Combinator.ALL_OF, Combinator.ANY_OF):
        return
    for condition in wait.conditions:
        if (
            not isinstance(condition, ChannelCondition)
            or condition.when
            or condition.for_each
            or condition.key
        ):
            continue
        if condition.exactly is not None and not _is_one(condition.exactly):
            others = [other for other in wait.conditions if other is not condition]
            if wait.combinator is not Combinator.ANY_OF:
                yield condition, True
            elif all(isinstance(other, TimerCondition) for other in others):
                yield condition, not others  # of others a branch may publish to one instead


def _is_one(count: Value) -> bool:
    return isinstance(count, Literal) and count.value in (0, 1)


def awaited(wait: CountingWait) -> Length | None:
    """How many messages, in terms of what the fan-out sees; None: not comparable."""
    given = wait.waiter.input
    inputs = {"input": given.tree[0]} if given is not None else {}
    return length_of(wait.condition.exactly, inputs) if wait.condition.exactly is not None else None


def started(wait: CountingWait) -> Length | None:
    """How many branches; None: not comparable."""
    total = Length("", 0)
    for movement in wait.branches:
        if movement.when is not None:
            return None
        size = Length("", 1) if movement.for_each is None else length_of_list(movement.for_each)
        found = total.plus(size) if size is not None else None
        if found is None:
            return None
        total = found
    return total


def are_comparable(one: Length, other: Length) -> bool:
    """Whether both speak of the same thing, so that a difference is one."""
    return _root(one) == _root(other)


def _root(length: Length) -> str:
    return length.base.removeprefix("size(").split(".")[0].rstrip(")")


def debts(flow: Flow, wait: CountingWait, crowds: Crowds, users: Iterable[str]) -> Lineages | None:
    """The branches, each of which owes one message; None: they cannot be followed."""
    if any(size_of_list(movement.for_each) == 0 for movement in wait.branches):
        return None
    lineages = Lineages(flow, wait.condition.channel, crowds, users, debtors=wait.branches)
    is_unclear = any(
        visit.takes or visit.doubts or any(v.code == "TOK005" for v in visit.violations)
        for visit in lineages.visits.values()
    )
    return None if is_unclear else lineages
