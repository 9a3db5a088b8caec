"""How a wait can end, seen from one channel: what each way takes of it, and what guards know afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    Options,
    Step,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.values import Literal
from orchestrator.graph.query import iterate_values
from orchestrator.graph.truth import UNKNOWN

_MOST_CHOICES = 3
"""Conditions on one channel that may be there or not; with more of them what is taken counts as unknown."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way from a step's wait to its Execute."""

    taken: int | None
    """Messages of the channel; None: not known."""
    known: dict[tuple[str | int, ...], Any] = field(default_factory=dict)
    """What the step's guards can rely on."""
    has_failed: bool = False
    """The wait failed and the step proceeds: nothing is taken, its effects are not committed."""


def count_taken(condition: Condition, channel: str) -> int | None:
    """Messages that the condition takes of the channel when it wins; None: not known."""
    if not isinstance(condition, ChannelCondition) or condition.channel != channel:
        return 0
    if condition.at_least is not None or condition.at_most is not None:
        return None
    if condition.exactly is None:
        return 1
    exactly = condition.exactly
    is_count = isinstance(exactly, Literal) and type(exactly.value) is int
    return exactly.value if isinstance(exactly, Literal) and is_count else None


def can_fail(wait: WaitFor) -> bool:
    """False: nothing is computed, so nothing can fail."""
    parts = (wait.conditions, wait.effects, tuple(value for _, value in wait.locals))
    return wait.handler is not None or any(not value.is_literal for value in iterate_values(parts))


def proceeds(wait: WaitFor, options: Options | None) -> bool:
    """Whether Execute runs after a failed wait, the movement's options considered (rule 118)."""
    override = options.wait_for.on_failure if options is not None and options.wait_for is not None else None
    return wait.proceeds_on_failure if override is None else override == "proceed"


def alternatives(step: Step, channel: str, options: Options | None = None) -> list[Alternative]:
    """Every way to the step's Execute, as far as they differ for the channel or for guards."""
    wait = step.wait_for
    if wait is None:
        return [Alternative(0)]
    found = [_alternative(wait, winners, channel) for winners in _winners(wait, channel)]
    if proceeds(wait, options) and can_fail(wait):
        found.append(Alternative(0, {**_facts(wait, (), ()), ("wait_for_failed",): True}, has_failed=True))
    return found


@dataclass(frozen=True, slots=True)
class _Winners:
    certain: tuple[Condition, ...] = ()
    open: tuple[Condition, ...] = ()
    """Conditions of other channels that may belong to what won, or not."""
    is_inexact: bool = False


def _winners(wait: WaitFor, channel: str) -> Iterator[_Winners]:
    conditions = wait.conditions
    match wait.combinator:
        case Combinator.NONE:
            yield _Winners()
        case Combinator.ANY_OF:
            yield from (_Winners((condition,)) for condition in conditions)
            if all(_is_optional(condition) for condition in conditions):
                yield _Winners()
        case Combinator.ANY_COMBINATION_OF:
            by_id = {condition.id: condition for condition in conditions}
            groups = [tuple(by_id[name] for name in group) for group in wait.groups]
            for group in groups:
                yield from _together([c for c in group if c.for_each is None], group, channel)
            if all(any(_is_optional(c) for c in group) for group in groups):
                yield _Winners()
        case Combinator.HANDLER:
            yield from _together([], conditions, channel)
        case _:
            certain = [condition for condition in conditions if not _is_optional(condition)]
            yield from _together(certain, conditions, channel)


def _is_optional(condition: Condition) -> bool:
    return condition.when is not None or condition.for_each is not None


def _together(certain: Sequence[Condition], all: Iterable[Condition], channel: str) -> Iterator[_Winners]:
    """The certain ones, and each choice of the others on the channel."""
    doubtful = [condition for condition in all if condition not in certain]
    rivals = [c for c in doubtful if isinstance(c, ChannelCondition) and c.channel == channel]
    others = tuple(condition for condition in doubtful if condition not in rivals)
    if len(rivals) > _MOST_CHOICES or any(c.for_each is not None for c in rivals):
        yield _Winners(tuple(certain), (*others, *rivals), is_inexact=True)
        return
    for choice in product((True, False), repeat=len(rivals)):
        chosen = tuple(c for c, is_chosen in zip(rivals, choice, strict=True) if is_chosen)
        yield _Winners((*certain, *chosen), others)


def _alternative(wait: WaitFor, winners: _Winners, channel: str) -> Alternative:
    counts = [count_taken(condition, channel) for condition in winners.certain]
    taken = None if winners.is_inexact or None in counts else sum(count or 0 for count in counts)
    return Alternative(taken, {**_facts(wait, winners.certain, winners.open), ("wait_for_failed",): False})


def _facts(
    wait: WaitFor, won: Sequence[Condition], open: Sequence[Condition]
) -> dict[tuple[str | int, ...], Any]:
    known: dict[tuple[str | int, ...], Any] = {}
    for condition in wait.conditions:
        if condition in open or condition.for_each is not None:
            continue
        has_won = condition in won
        place = ("wait", condition.id)
        known[(*place, "satisfied")] = has_won
        if isinstance(condition, TimerCondition) and has_won:
            known[(*place, "fired")] = True
        if isinstance(condition, ChannelCondition):
            count = count_taken(condition, condition.channel) if has_won else 0
            if count is not None:
                known[(*place, "messages")] = [UNKNOWN] * count
            if not has_won:
                known[(*place, "message")] = None
    return known
