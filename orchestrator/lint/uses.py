"""Who publishes to a channel, waits on it, reads it; who writes an attribute and reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.definition.model import (
    ChannelCondition,
    Effect,
    Flow,
    ForceCompleteIfChannelsEmpty,
    Handler,
    Path,
    Publish,
    Rpc,
    SetAttribute,
    Step,
)
from orchestrator.definition.values import Value
from orchestrator.graph.query import iterate_values, with_otherwise


@dataclass(frozen=True, slots=True)
class Place:
    """`who` does it, as messages name it: "step `A`", "RPC `r`", "the timeout handler"."""

    who: str
    path: Path


@dataclass(frozen=True, slots=True)
class Waiting:
    step: Step
    condition: ChannelCondition


@dataclass(slots=True)
class ChannelUse:
    publishers: list[Place] = field(default_factory=list)
    waits: list[Waiting] = field(default_factory=list)
    readers: list[Place] = field(default_factory=list)
    """Of its size or its unread messages; none of them consumes anything."""
    is_published_by_steps: bool = False
    """By a step or the timeout handler; clients reach RPCs only."""


@dataclass(slots=True)
class AttributeUse:
    writers: list[Place] = field(default_factory=list)
    readers: list[Place] = field(default_factory=list)
    others: list[Place] = field(default_factory=list)
    """Locks and loads: what names it without reading or writing."""


class Uses:
    """Of one flow; a handler counts as far as the definition names what it does."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self.channels = {name: ChannelUse() for name in flow.channels}
        self.attributes = {name: AttributeUse() for name in flow.attributes}
        self.has_handlers = False
        """Some function is bound; it can read every attribute that is no map."""
        for step in flow.steps.values():
            self._add(step, f"step `{step.name}`", step.execute)
        for rpc in flow.rpcs.values():
            self._add(rpc, f"RPC `{rpc.name}`", rpc.handler)
        if flow.on_timeout is not None:
            self._add(flow.on_timeout, "the timeout handler", flow.on_timeout.execute)

    def _add(self, element: Step | Rpc, who: str, handler: Handler | None) -> None:
        is_step = isinstance(element, Step)
        self._add_handler(handler, who, is_step)
        if isinstance(element, Step) and element.wait_for is not None:
            self._add_handler(element.wait_for.handler, who, is_step)
            self._add_effects(element.wait_for.effects, who, is_step)
            for condition in element.wait_for.conditions:
                if isinstance(condition, ChannelCondition):
                    self.channels[condition.channel].waits.append(Waiting(element, condition))
        for _, decision, _ in with_otherwise(element.decisions):
            self._add_effects(decision.effects, who, is_step)
            if isinstance(decision.outcome, ForceCompleteIfChannelsEmpty):
                for channel in decision.outcome.channels:
                    self.channels[channel].readers.append(Place(who, decision.path))
        for lock in element.locks if isinstance(element, Rpc) else ():
            self.attributes[lock.attribute].others.append(Place(who, lock.path))
        for value in iterate_values(element):
            self._add_reads(value, who)

    def _add_handler(self, handler: Handler | None, who: str, is_step: bool) -> None:
        if handler is None:
            return
        self.has_handlers = True
        if handler.may is not None:
            for channel in handler.may.publish:
                self._publish(channel, Place(who, handler.may.path), is_step)
            for name in handler.may.set:
                self.attributes[name].writers.append(Place(who, handler.may.path))
        for lock in handler.locks:
            self.attributes[lock.attribute].others.append(Place(who, lock.path))
        for load in handler.loads:
            if load.channel is not None:
                self.channels[load.channel].readers.append(Place(who, load.path))
            elif load.attribute is not None:
                self.attributes[load.attribute].readers.append(Place(who, load.path))

    def _add_effects(self, effects: Iterable[Effect], who: str, is_step: bool) -> None:
        for effect in effects:
            if isinstance(effect, Publish):
                self._publish(effect.channel, Place(who, effect.path), is_step)
            elif isinstance(effect, SetAttribute):
                self.attributes[effect.attribute].writers.append(Place(who, effect.path))

    def _publish(self, channel: str, place: Place, is_step: bool) -> None:
        use = self.channels[channel]
        use.publishers.append(place)
        use.is_published_by_steps |= is_step

    def _add_reads(self, value: Value, who: str) -> None:
        for path in value.reads:
            if path[0] == "channels":
                for name in [path[1]] if len(path) > 1 else list(self.channels):
                    self.channels[name].readers.append(Place(who, value.path))
            elif path[0] == "attributes":
                for name in [path[1]] if len(path) > 1 else list(self.attributes):
                    if name in self.attributes:
                        self.attributes[name].readers.append(Place(who, value.path))
