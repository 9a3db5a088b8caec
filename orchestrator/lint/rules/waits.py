"""Rules about waits that never wait, never end, or never see one of their conditions (WAI001 to WAI010)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations

from orchestrator.definition.durations import format_duration, parse_duration
from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    Path,
    Step,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.problem import Edit, Fix, Problem
from orchestrator.definition.values import Literal, Value
from orchestrator.graph.query import read_paths
from orchestrator.graph.subjects import groups_of, is_optional
from orchestrator.lint.editing import removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule, wait_bounds, wait_results


def _waits(facts: Facts) -> Iterator[tuple[Step, WaitFor]]:
    for step in facts.flow.steps.values():
        if step.wait_for is not None:
            yield step, step.wait_for


def find_empty_waits(facts: Facts) -> Iterator[Problem]:
    """WAI001: neither a condition nor anything to commit; or a list of conditions with nothing in it."""
    for step, wait in _waits(facts):
        if wait.combinator is not Combinator.NONE:
            continue
        if not (wait.effects or wait.locals):
            message = f"the wait of `{step.name}` has no condition and no effect: it holds at once"
            yield _empty_wait(facts, message, "wait_for", wait.path)
        elif "all_of" in facts.source.parts(wait.path):
            message = f"`all_of` in `{step.name}` has no condition: the wait holds at once"
            yield _empty_wait(facts, message, "all_of", (*wait.path, "all_of"))


def _empty_wait(facts: Facts, message: str, key: str, path: Path) -> Problem:
    edit = removal(facts.source, path)
    return facts.problem(
        "WAI001",
        message,
        path,
        is_key=True,
        help=f"remove `{key}`, or say what it waits for",
        fix=Fix(f"remove `{key}`", (edit,), is_safe=True) if edit is not None else None,
    )


def find_late_timers(facts: Facts) -> Iterator[Problem]:
    """WAI003: the run's timeout comes first, since a timer starts after the run."""
    limit = facts.flow.timeout
    if limit is None:
        return
    for step, wait in _waits(facts):
        for condition in wait.conditions:
            span = literal_span(condition)
            if span is not None and span >= limit.after:
                yield facts.problem(
                    "WAI003",
                    f"the timer of {format_duration(span)} in `{step.name}` never fires: "
                    f"a run has {format_duration(limit.after)}",
                    condition.path,
                    also=[(limit.path, "the timeout of the run")],
                    help="shorten the timer, or lengthen the timeout",
                )


def find_zero_timers(facts: Facts) -> Iterator[Problem]:
    """WAI005: `any_of` tries timers first, so one of no length always wins."""
    for step, wait in _waits(facts):
        if wait.combinator is not Combinator.ANY_OF or len(wait.conditions) < 2:
            continue
        for condition in wait.conditions:
            if literal_span(condition) == timedelta(0) and not is_optional(condition):
                yield facts.problem(
                    "WAI005",
                    f"a timer of no length always wins: no other condition of `{step.name}` can",
                    condition.path,
                    help="to take a message only if there is one, write `until: {channel: …, at_most: 1}`",
                )


def find_shadowed_alternatives(facts: Facts) -> Iterator[Problem]:
    """WAI004: an earlier alternative holds whenever this one does."""
    for step, wait in _waits(facts):
        if wait.combinator is Combinator.ANY_OF:
            yield from _shadowed_conditions(facts, step, wait)
        elif wait.combinator is Combinator.ANY_COMBINATION_OF:
            yield from _shadowed_groups(facts, step, wait)


def _shadowed_conditions(facts: Facts, step: Step, wait: WaitFor) -> Iterator[Problem]:
    plain = [each for each in wait.conditions if not is_optional(each)]
    for index, loser in enumerate(plain):
        winner = next((each for each in plain[:index] if _implies(each, loser)), None)
        if winner is not None:
            yield facts.problem(
                "WAI004",
                f"`{loser.id}` of `{step.name}` is never chosen: `{winner.id}` holds whenever it does",
                loser.path,
                also=[(winner.path, "is tried first")],
                help="remove it, or put the stronger condition first",
                fix=_drop(facts, step, loser),
            )


def _implies(winner: Condition, loser: Condition) -> bool:
    """Whether `winner`, which is tried first, holds whenever `loser` does.

    A shorter timer behind a longer one is left alone: where a worker comes late, both have fired.
    """
    if isinstance(winner, TimerCondition) and isinstance(loser, TimerCondition):
        first, second = literal_span(winner), literal_span(loser)
        return first is not None and second is not None and first <= second
    if isinstance(winner, ChannelCondition) and isinstance(loser, ChannelCondition):
        least, more = minimum(winner), minimum(loser)
        is_same = (winner.channel, winner.key) == (loser.channel, loser.key)
        return is_same and least is not None and more is not None and least <= more
    return False


def _shadowed_groups(facts: Facts, step: Step, wait: WaitFor) -> Iterator[Problem]:
    optional = {each.id for each in wait.conditions if is_optional(each)}
    for index, group in enumerate(wait.groups):
        for earlier in wait.groups[:index]:
            if set(earlier) <= set(group) and not set(earlier) & optional:
                path: Path = (*wait.path, "any_combination_of", index)
                edit = removal(facts.source, path)
                yield facts.problem(
                    "WAI004",
                    f"the combination {' + '.join(group)} of `{step.name}` is never chosen: "
                    f"{' + '.join(earlier)} holds whenever it does",
                    path,
                    also=[((*wait.path, "any_combination_of", wait.groups.index(earlier)), "is tried first")],
                    help="remove it, or put the larger combination first",
                    fix=Fix("remove the combination", (edit,), is_safe=True) if edit is not None else None,
                )
                break


def find_repeated_channels(facts: Facts) -> Iterator[Problem]:
    """WAI006: two conditions of one combination on one channel reserve messages of their own each."""
    for step, wait in _waits(facts):
        if wait.combinator is Combinator.HANDLER:
            continue
        by_id = {each.id: each for each in wait.conditions}
        for group in groups_of(wait):
            members = [by_id[each.id] for each in wait.conditions if each.id in group]
            channels = [
                each for each in members if isinstance(each, ChannelCondition) and not is_optional(each)
            ]
            for one, other in combinations(channels, 2):
                if (one.channel, one.key) == (other.channel, other.key):
                    yield _repeated(facts, step, wait, one, other)


def _repeated(
    facts: Facts, step: Step, wait: WaitFor, one: ChannelCondition, other: ChannelCondition
) -> Problem:
    first, second = minimum(one), minimum(other)
    total = "" if first is None or second is None else f": {first} + {second} = {first + second} messages"
    return facts.problem(
        "WAI006",
        f"`{step.name}` waits for `{one.channel}` twice in one combination{total}",
        other.path,
        also=[(one.path, "and here")],
        help=f"write one condition with `for: {first + second}`" if total else "write one condition",  # type: ignore[operator]
        fix=_merge(facts, step, wait, one, other),
    )


def _merge(
    facts: Facts, step: Step, wait: WaitFor, one: ChannelCondition, other: ChannelCondition
) -> Fix | None:
    """Only where both counts are plain and nobody asks which condition a message belongs to."""
    counts = [1 if each.exactly is None else _number(each.exactly) for each in (one, other)]
    is_plain = all(each.at_least is None and each.at_most is None for each in (one, other))
    drop = removal(facts.source, other.path)
    if None in counts or not is_plain or drop is None or wait.combinator is not Combinator.ALL_OF:
        return None
    if step.execute is not None or _is_read(step, one.id) or _is_read(step, other.id):
        return None
    total = sum(count for count in counts if count is not None)
    if one.exactly is not None:
        edit = Edit(facts.span((*one.path, "for")), str(total))
    else:
        end = facts.span((*one.path, "channel"))
        at = type(end)(end.end_line, end.end_column, end.end_line, end.end_column)
        if facts.source.lines[facts.span(one.path).line - 1][facts.span(one.path).column - 1] != "{":
            return None
        edit = Edit(at, f", for: {total}")
    return Fix(f"merge both into `for: {total}`", (edit, drop), is_safe=True)


def _drop(facts: Facts, step: Step, condition: Condition) -> Fix | None:
    """None where its result is read, or may be."""
    if step.execute is not None or _is_read(step, condition.id):
        return None
    edit = removal(facts.source, condition.path)
    return Fix("remove the condition", (edit,), is_safe=True) if edit is not None else None


def _is_read(step: Step, condition_id: str) -> bool:
    return any(
        path[0] == "wait" and (len(path) < 2 or path[1] == condition_id)
        for path in read_paths((step.let, step.decisions))
    )


def holds_at_once(wait: WaitFor) -> bool:
    """Whatever comes, one of its combinations asks for nothing: no message, and no time."""
    if wait.combinator in (Combinator.HANDLER, Combinator.NONE):
        return False
    blocking = {each.id for each in wait.conditions if is_optional(each) or not _asks_nothing(each)}
    return any(not group & blocking for group in groups_of(wait))


def _asks_nothing(condition: Condition) -> bool:
    if isinstance(condition, ChannelCondition):
        return minimum(condition) == 0
    return literal_span(condition) == timedelta(0)


def literal_span(condition: Condition) -> timedelta | None:
    """Of a timer whose length is written out."""
    if not isinstance(condition, TimerCondition) or not isinstance(condition.after, Literal):
        return None
    return parse_duration(condition.after.value)


def minimum(condition: ChannelCondition) -> int | None:
    """How many messages it needs; None where that is computed."""
    if condition.exactly is not None:
        return _number(condition.exactly)
    if condition.at_least is not None:
        return _number(condition.at_least)
    return 0 if condition.at_most is not None else 1


def _number(value: Value) -> int | None:
    return value.value if isinstance(value, Literal) and isinstance(value.value, int) else None


RULES: list[Rule] = [
    find_empty_waits,
    find_late_timers,
    find_zero_timers,
    find_shadowed_alternatives,
    find_repeated_channels,
    *wait_bounds.RULES,
    *wait_results.RULES,
]
