"""What of a state an event at a step can see or touch, beyond the execution itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from orchestrator.definition.model import Delivery, Flow, Handler, Publish, Rpc, Step
from orchestrator.graph.query import with_otherwise
from orchestrator.verify.relevance import Relevance


class Surroundings:
    """By step (or RPC), for one definition."""

    def __init__(self, flow: Flow, relevance: Relevance) -> None:
        self._flow = flow
        self.victims: dict[str, frozenset[str] | None] = {}
        """Steps whose executions it may cancel; None: all are looked at."""
        self.channels: dict[str, frozenset[str]] = {}
        """Channels whose sizes matter to it."""
        deciders: list[Step | Rpc] = [*flow.steps.values(), *flow.rpcs.values()]
        if flow.on_timeout is not None:
            deciders.append(flow.on_timeout)
        for decider in deciders:
            key = key_of(decider)
            self.victims[key] = None if self.has_siblings else _victims(decider)
            sized = relevance.channels[decider.name]
            self.channels[key] = frozenset(flow.channels) if "*" in sized else sized | self._crowded(decider)

    @cached_property
    def has_siblings(self) -> bool:
        """Does anything cancel executions by where they come from?"""
        steps = self._flow.steps.values()
        return any(d.cancel_siblings for step in steps for _, d, _ in with_otherwise(step.decisions))

    def _crowded(self, decider: Step | Rpc) -> frozenset[str]:
        """Channels it publishes to where it matters how many messages are there already."""
        return frozenset(
            name
            for name in _published(decider)
            if self._flow.channels[name].capacity is not None
            or self._flow.channels[name].delivery is Delivery.LATEST
        )


def key_of(decider: Step | Rpc) -> str:
    return f"rpc {decider.name}" if isinstance(decider, Rpc) else decider.name


def _handlers(decider: Step | Rpc) -> Iterator[Handler]:
    if isinstance(decider, Rpc):
        handlers: Iterable[Handler | None] = (decider.handler,)
    else:
        handlers = (decider.execute, decider.wait_for.handler if decider.wait_for else None)
    return (handler for handler in handlers if handler is not None)


def _victims(decider: Step | Rpc) -> frozenset[str] | None:
    found = {step for handler in _handlers(decider) if handler.may for step in handler.may.cancel}
    for _, decision, _ in with_otherwise(decider.decisions):
        if decision.cancel_siblings or decision.cancel_round is not None:
            return None
        found.update(decision.cancel)
    return frozenset(found)


def _published(decider: Step | Rpc) -> Iterator[str]:
    for handler in _handlers(decider):
        yield from handler.may.publish if handler.may else ()
    effects = [effect for _, decision, _ in with_otherwise(decider.decisions) for effect in decision.effects]
    if isinstance(decider, Step) and decider.wait_for is not None:
        effects += decider.wait_for.effects
    yield from (effect.channel for effect in effects if isinstance(effect, Publish))
