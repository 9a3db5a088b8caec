"""Rules about channels: who has to begin, and what is mixed in one channel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.definition.model import ChannelCondition, Combinator, Options, Step
from orchestrator.definition.problem import Problem
from orchestrator.definition.values import Literal
from orchestrator.graph.alternatives import can_fail, proceeds
from orchestrator.graph.paths import movements_from
from orchestrator.graph.usage import Taker, Usage, reads_messages
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule


def find_waits_that_feed_themselves(facts: Facts) -> Iterator[Problem]:
    """CHN005: every publisher has waited for the channel before, so there is no first message."""
    reported = {
        section.channel for section in facts.sections if any(f.code == "TOK001" for f in section.findings)
    }
    for name, usage in facts.usages.items():
        if facts.flow.channels[name].is_external or usage.outsiders or name in reported:
            continue
        publishers = [publisher for publisher in usage.publishers if publisher.step in facts.paths.reached]
        takers = [taker for taker in usage.takers if taker.step in facts.paths.reached]
        if not publishers or not takers:
            continue
        after = facts.crowds.reached_from(taker.step for taker in takers)
        if any(publisher.step not in after for publisher in publishers):
            continue
        free = _reached_without(facts, name)
        if any(publisher.step in free.executed for publisher in publishers):
            continue
        if any(publisher.step in free.entered and "wait_for" in publisher.path for publisher in publishers):
            continue  # what a wait publishes is there before anything is awaited
        first = takers[0]
        yield facts.problem(
            "CHN005",
            f"`{first.step}` waits for `{name}`, and whoever publishes it has waited for it before",
            first.condition.path,
            also=[(publisher.path, "published only here, after the wait") for publisher in publishers[:3]],
            help=f"publish the first message before `{first.step}`, or declare `{name}` external",
        )


@dataclass(slots=True)
class _Reached:
    entered: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)


def _reached_without(facts: Facts, channel: str) -> _Reached:
    """Steps that are entered, and that can execute, although no message of the channel ever comes."""
    found = _Reached()
    left = [(movement.step, movement.options) for movement in facts.crowds.roots]
    while left:
        name, options = left.pop()
        step = facts.flow.steps[name]
        found.entered.add(name)
        if name not in found.executed and not _needs(step, channel, options):
            found.executed.add(name)
            left += [(movement.step, movement.options) for movement, _ in movements_from(step)]
            left += [(edge.recovery, None) for edge in facts.paths.failure_edges if edge.step == name]
    return found


def _needs(step: Step, channel: str, options: Options | None) -> bool:
    """Whether the step's wait surely takes a message of the channel."""
    wait = step.wait_for
    if wait is None or (proceeds(wait, options) and can_fail(wait)):
        return False
    needing = {
        c.id
        for c in wait.conditions
        if isinstance(c, ChannelCondition) and c.channel == channel and _is_due(c)
    }
    match wait.combinator:
        case Combinator.UNTIL | Combinator.ALL_OF:
            return bool(needing)
        case Combinator.ANY_OF:
            return bool(wait.conditions) and len(needing) == len(wait.conditions)
        case Combinator.ANY_COMBINATION_OF:
            return bool(wait.groups) and all(needing.intersection(group) for group in wait.groups)
        case _:
            return False


def _is_due(condition: ChannelCondition) -> bool:
    """At least one message is needed, whatever is computed."""
    if condition.when is not None or condition.for_each is not None:
        return False
    count = condition.exactly or condition.at_least
    if count is None:
        return condition.at_most is None
    return isinstance(count, Literal) and type(count.value) is int and count.value > 0


def find_mixed_channels(facts: Facts) -> Iterator[Problem]:
    """CHN004: one step takes a token of it, another reads what is in the message."""
    for name, usage in facts.usages.items():
        if len({taker.step for taker in usage.takers}) < 2 or not usage.publishers:
            continue
        takers = [taker for taker in usage.takers if taker.takes_one and _gives_back(facts, usage, taker)]
        readers = [t for t in usage.takers if reads_messages(facts.flow.steps[t.step], t.condition.id)]
        tokens = [taker for taker in takers if taker not in readers]
        others = [taker for taker in readers if taker not in takers]
        if tokens and others and facts.crowds.has([tokens[0].step]):
            yield facts.problem(
                "CHN004",
                f"`{name}` carries tokens for `{tokens[0].step}` and data for `{others[0].step}`",
                facts.flow.channels[name].path,
                is_key=True,
                also=[
                    (tokens[0].condition.path, "taken as a token, given back later"),
                    (others[0].condition.path, "taken for what is in it"),
                ],
                help="use one channel for each",
            )


def _gives_back(facts: Facts, usage: Usage, taker: Taker) -> bool:
    """Whether a message without content is published after it, by the step or by what follows."""
    after = facts.paths.after(taker.step)
    return any(
        publisher.effect is not None
        and isinstance(publisher.effect.value, Literal)
        and publisher.step in after
        for publisher in usage.publishers
    )


def find_outsiders_that_are_counted(facts: Facts) -> Iterator[Problem]:
    """CHN006: an RPC's message is counted as one of those that the branches publish."""
    for name, usage in facts.usages.items():
        counting = [taker for taker in usage.takers if _counts(taker.condition)]
        inside = [publisher for publisher in usage.publishers if publisher.step is not None]
        if not counting or not usage.outsiders or not facts.crowds.has({str(p.step) for p in inside}):
            continue
        outsider = usage.outsiders[0]
        yield facts.problem(
            "CHN006",
            f"{outsider.outside} publishes to `{name}`, and `{counting[0].step}` counts its message"
            " as one of those that steps publish",
            outsider.path,
            also=[
                (counting[0].condition.path, "counted here"),
                (inside[0].path, "published by a step here"),
            ],
            help="give the RPC a channel of its own",
        )


def _counts(condition: ChannelCondition) -> bool:
    count = condition.exactly
    return count is not None and not (isinstance(count, Literal) and count.value in (0, 1))


RULES: list[Rule] = [
    find_waits_that_feed_themselves,
    find_mixed_channels,
    find_outsiders_that_are_counted,
]
