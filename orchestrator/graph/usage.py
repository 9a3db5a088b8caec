"""Who takes from a channel and who publishes to it, all over a flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.definition.model import (
    ChannelCondition,
    Decision,
    Flow,
    Handler,
    Path,
    Publish,
    Step,
)
from orchestrator.definition.values import Literal
from orchestrator.graph.query import read_paths, reads_messages_of, with_otherwise


@dataclass(frozen=True, slots=True)
class Taker:
    step: str
    condition: ChannelCondition

    @property
    def takes_one(self) -> bool:
        """`for: 1`, written or not."""
        return self.count == 1

    @property
    def count(self) -> int | None:
        """How many messages it takes when it wins; None: not known, or different each time."""
        c = self.condition
        if c.at_least is not None or c.at_most is not None or c.for_each is not None:
            return None
        if c.exactly is None:
            return 1
        is_known = isinstance(c.exactly, Literal) and type(c.exactly.value) is int
        return c.exactly.value if isinstance(c.exactly, Literal) and is_known else None


@dataclass(frozen=True, slots=True)
class Publisher:
    """`step` is None for an RPC or the timeout handler, which `outside` names."""

    step: str | None
    path: Path
    effect: Publish | None
    """None: a handler does it through its context."""
    decision: Decision | None
    """None: done by a wait, or by a handler."""
    outside: str = ""


@dataclass(slots=True)
class Usage:
    """One channel."""

    takers: list[Taker] = field(default_factory=list)
    publishers: list[Publisher] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        """Those that take from it or publish to it."""
        publishers = [publisher.step for publisher in self.publishers if publisher.step is not None]
        return [*(taker.step for taker in self.takers), *publishers]

    @property
    def outsiders(self) -> list[Publisher]:
        return [publisher for publisher in self.publishers if publisher.step is None]


def usages(flow: Flow) -> dict[str, Usage]:
    """Of every channel, in the order declared."""
    found = {name: Usage() for name in flow.channels}
    for step in flow.steps.values():
        for condition in step.wait_for.conditions if step.wait_for is not None else ():
            if isinstance(condition, ChannelCondition):
                found[condition.channel].takers.append(Taker(step.name, condition))
        for channel, publisher in _publishers_of_step(step, step.name, ""):
            found[channel].publishers.append(publisher)
    for rpc in flow.rpcs.values():
        outside = f"RPC `{rpc.name}`"
        for channel, publisher in _publishers(None, rpc.decisions, rpc.handler, outside):
            found[channel].publishers.append(publisher)
    if flow.on_timeout is not None:
        for channel, publisher in _publishers_of_step(flow.on_timeout, None, "the timeout handler"):
            found[channel].publishers.append(publisher)
    return found


def _publishers_of_step(step: Step, name: str | None, outside: str) -> Iterator[tuple[str, Publisher]]:
    wait = step.wait_for
    if wait is not None:
        for effect in wait.effects:
            if isinstance(effect, Publish):
                yield effect.channel, Publisher(name, effect.path, effect, None, outside)
        yield from _by_handler(name, wait.handler, outside)
    yield from _publishers(name, step.decisions, step.execute, outside)


def _publishers(
    step: str | None, decisions: tuple[Decision, ...], handler: Handler | None, outside: str
) -> Iterator[tuple[str, Publisher]]:
    for _, decision, _ in with_otherwise(decisions):
        for effect in decision.effects:
            if isinstance(effect, Publish):
                yield effect.channel, Publisher(step, effect.path, effect, decision, outside)
    yield from _by_handler(step, handler, outside)


def _by_handler(step: str | None, handler: Handler | None, outside: str) -> Iterator[tuple[str, Publisher]]:
    if handler is not None and handler.may is not None:
        for channel in handler.may.publish:
            yield channel, Publisher(step, (*handler.may.path, "publish", channel), None, None, outside)


def reads_messages(step: Step, condition_id: str) -> bool:
    """Whether the step's expressions look at what the condition took."""
    return reads_messages_of(read_paths((step.let, step.decisions)), condition_id)
