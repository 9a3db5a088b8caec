"""Rules about how long a wait can last: for ever, or not at all (WAI002, WAI007, WAI010)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.model import (
    ChannelCondition,
    Combinator,
    Condition,
    GoToMany,
    Step,
    WaitFor,
)
from orchestrator.definition.problem import Edit, Fix, Problem, Span
from orchestrator.definition.values import Expression, Literal
from orchestrator.graph.paths import decisions_of
from orchestrator.graph.subjects import COUNT, Subjects, groups_of, is_optional
from orchestrator.lint.editing import added_item
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule


def find_unbounded_waits(facts: Facts) -> Iterator[Problem]:
    """WAI002: every alternative needs a client's message, and nothing else ends the wait or the run."""
    if facts.flow.timeout is not None or facts.flow.verify.get("open_ended") is True:
        return
    for step in facts.flow.steps.values():
        wait = step.wait_for
        if wait is None or step.name not in facts.paths.reached or _is_ended_by_others(facts, step.name):
            continue
        awaited = _awaited_from_outside(facts, wait)
        if awaited:
            names = " or ".join(f"`{each.channel}`" for each in awaited)
            yield facts.problem(
                "WAI002",
                f"`{step.name}` waits for {names} from outside, without a timer; nor has the run a timeout",
                awaited[0].path,
                help="add a timer, set a `timeout` of the flow, or promise the message under `verify`: "
                f"`external: {{{awaited[0].channel}: [1]}}`",
                fix=_timer_fix(facts, wait),
            )


def _awaited_from_outside(facts: Facts, wait: WaitFor) -> list[ChannelCondition]:
    """One condition of each alternative that only a client can fulfil; empty where one needs none."""
    if wait.combinator in (Combinator.HANDLER, Combinator.NONE):
        return []
    by_id = {condition.id: condition for condition in wait.conditions}
    found = []
    for group in groups_of(wait):
        outside = [each for id, each in by_id.items() if id in group and _is_from_outside(facts, each)]
        if not outside:
            return []
        found += outside[:1]
    return [each for each in found if isinstance(each, ChannelCondition)]


def _is_from_outside(facts: Facts, condition: Condition) -> bool:
    if not isinstance(condition, ChannelCondition) or is_optional(condition) or _never_blocks(condition):
        return False
    channel = facts.flow.channels[condition.channel]
    if not channel.is_external or facts.uses.channels[condition.channel].is_published_by_steps:
        return False
    promised = facts.flow.verify.get("external", {}).get(condition.channel)
    return not (isinstance(promised, list) and promised and min(promised) >= 1)


def _is_ended_by_others(facts: Facts, name: str) -> bool:
    """Something cancels the step, or a branch beside it can close the run at once."""
    for element, decision in decisions_of(facts.flow):
        handler = element.execute if isinstance(element, Step) else element.handler
        may = handler.may.cancel if handler is not None and handler.may is not None else ()
        if decision.cancel_round or name in (*decision.cancel, *decision.cancel_siblings, *may):
            return True
        if isinstance(decision.outcome, GoToMany):
            targets = [movement.step for movement in decision.outcome.movements]
            leading = [each for each in targets if name in facts.paths.after(each)]
            if leading and any(each in facts.paths.can_force for each in targets if each not in leading[:1]):
                return True
    return False


def _timer_fix(facts: Facts, wait: WaitFor) -> Fix | None:
    """A week, as one more alternative."""
    timer = "{timer: 7d, id: deadline}"
    path = (*wait.path, wait.combinator.value)
    if wait.combinator is Combinator.ANY_OF:
        edit = added_item(facts.source, path, timer)
    elif wait.combinator is Combinator.UNTIL:
        edit = _until_as_any_of(facts, wait, timer)
    else:
        return None
    return Fix("add a timer of 7 days", (edit,), is_safe=False) if edit is not None else None


def _until_as_any_of(facts: Facts, wait: WaitFor, timer: str) -> Edit | None:
    place = facts.source.locate((*wait.path, "until"))
    condition = facts.source.text_at(place.value)
    if place.key is None or not condition.startswith("{") or place.value.line != place.value.end_line:
        return None
    whole = Span(place.key.line, place.key.column, place.value.end_line, place.value.end_column)
    return Edit(whole, f"any_of: [{condition}, {timer}]")


# --- Waits that do not wait -------------------------------------------------------------------------------


def find_counts_of_zero(facts: Facts) -> Iterator[Problem]:
    """WAI007: `for: 0`, or a computed count from outside that its type lets be 0.

    Counts of what the flow's own steps publish may be 0: then there is nothing to wait for.
    """
    for step in facts.flow.steps.values():
        for condition in step.wait_for.conditions if step.wait_for is not None else ():
            if not isinstance(condition, ChannelCondition) or condition.exactly is None:
                continue
            count, key = condition.exactly, (*condition.path, "for")
            if isinstance(count, Literal) and count.value == 0:
                yield facts.problem(
                    "WAI007",
                    f"`{step.name}` waits for 0 messages of `{condition.channel}`: that holds at once",
                    key,
                    help="wait for 1 or more, or remove the condition",
                )
            elif _is_asked_outside(facts, condition) and _can_be_zero(facts, step, condition):
                yield facts.problem(
                    "WAI007",
                    f"`{count.text}` can be 0: then `{step.name}` goes on without any message of "
                    f"`{condition.channel}`",
                    key,
                    help="declare a `minimum` of 1 for it",
                    confidence="heuristic",
                )


def _is_asked_outside(facts: Facts, condition: ChannelCondition) -> bool:
    return not facts.uses.channels[condition.channel].is_published_by_steps


def _can_be_zero(facts: Facts, step: Step, condition: ChannelCondition) -> bool:
    """Only what is read as it stands is judged, by its declared type."""
    count = condition.exactly
    if not isinstance(count, Expression):
        return False
    node = count.tree[0]
    path = getattr(node, "path", None)
    if path is None or len(count.reads) != 1 or not all(isinstance(part, str) for part in path):
        return False
    domain = Subjects(facts.setting, step).domain(tuple(path))
    if domain.values is not None:
        return 0 in domain.values and domain != COUNT
    return domain.is_number and domain.minimum <= 0


def find_waits_that_never_block(facts: Facts) -> Iterator[Problem]:
    """WAI010: a minimum of 0 holds at once: the others never win. Alone it takes what is there."""
    for step in facts.flow.steps.values():
        wait = step.wait_for
        if wait is None or wait.combinator is not Combinator.ANY_OF or len(wait.conditions) < 2:
            continue
        for condition in wait.conditions:
            if (
                isinstance(condition, ChannelCondition)
                and not is_optional(condition)
                and _never_blocks(condition)
            ):
                key = "at_most" if condition.at_most is not None else "at_least"
                yield facts.problem(
                    "WAI010",
                    f"`{condition.id}` has a minimum of 0: it holds at once, and `{step.name}` never waits "
                    "for its other conditions",
                    (*condition.path, key),
                    help="give it `at_least: 1`, or let it stand alone",
                )


def _never_blocks(condition: ChannelCondition) -> bool:
    if condition.exactly is not None:
        return isinstance(condition.exactly, Literal) and condition.exactly.value == 0
    if condition.at_least is not None:
        return isinstance(condition.at_least, Literal) and condition.at_least.value == 0
    return condition.at_most is not None


RULES: list[Rule] = [find_unbounded_waits, find_counts_of_zero, find_waits_that_never_block]
