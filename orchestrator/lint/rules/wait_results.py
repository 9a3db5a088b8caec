"""Rules about results of waits that nobody looks at (WAI008, WAI009)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.model import ChannelCondition, Combinator, Step, TimerCondition, WaitFor
from orchestrator.definition.problem import Problem
from orchestrator.graph.query import read_paths, reads_messages_of
from orchestrator.graph.subjects import domain_of
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule


def _unread_waits(facts: Facts) -> Iterator[tuple[Step, WaitFor, frozenset[tuple[str, ...]]]]:
    """Steps without a handler, which could look at everything, and what their expressions read."""
    for step in facts.flow.steps.values():
        if step.wait_for is not None and step.execute is None:
            yield step, step.wait_for, read_paths((step.let, step.decisions))


def find_untested_timers(facts: Facts) -> Iterator[Problem]:
    """WAI008: whether the deadline has come makes no difference."""
    for step, wait, reads in _unread_waits(facts):
        timers = [each for each in wait.conditions if isinstance(each, TimerCondition)]
        if wait.combinator is not Combinator.ANY_OF or not timers or len(timers) == len(wait.conditions):
            continue
        if not any(path[0] == "wait" for path in reads):
            yield facts.problem(
                "WAI008",
                f"`{step.name}` does the same whether its timer fires or not",
                timers[0].path,
                help=f"test `wait.{timers[0].id}.satisfied`, if the deadline makes a difference",
            )


def find_unread_messages(facts: Facts) -> Iterator[Problem]:
    """WAI009: a message is taken, and its content is lost. Tokens, which are given back, have none."""
    for step, wait, reads in _unread_waits(facts):
        for condition in wait.conditions:
            if not isinstance(condition, ChannelCondition) or reads_messages_of(reads, condition.id):
                continue
            channel = facts.flow.channels[condition.channel]
            domain = domain_of(channel.type.schema, channel.type.names)
            if (domain.values is not None and len(domain.values) == 1) or _is_given_back(
                facts, step, channel.name
            ):
                continue
            yield facts.problem(
                "WAI009",
                f"`{step.name}` takes a message of `{channel.name}` and never reads it",
                condition.path,
                also=[(channel.path, f"messages are {channel.type.text}")],
                help=f"read `wait.{condition.id}.message`, or declare the channel's type as none",
            )


def _is_given_back(facts: Facts, step: Step, channel: str) -> bool:
    places = facts.uses.channels[channel].publishers
    publishers = {place.path[1] for place in places if place.path[:1] == ("steps",)}
    return bool(publishers) and not publishers.isdisjoint(facts.paths.after(step.name))


RULES: list[Rule] = [find_untested_timers, find_unread_messages]
