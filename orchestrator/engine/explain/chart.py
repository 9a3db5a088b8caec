"""What a definition says of who publishes, leads where, cancels and closes; computed once for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.core.tasks import movements
from orchestrator.definition.model import (
    Decision,
    Effect,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    Handler,
    Path,
    Publish,
    Route,
    Rpc,
    Step,
)
from orchestrator.graph.query import with_otherwise


class ActorKind(StrEnum):
    STEP = "step"
    RPC = "rpc"
    TIMEOUT_HANDLER = "timeout_handler"
    CLIENT = "client"


class Actor(Struct, frozen=True):
    """Who can do something, and in which of its methods."""

    kind: ActorKind
    name: str
    in_wait: bool = False
    """In `wait_for`: before its wait is accepted."""


class Sender(Struct, frozen=True):
    """A place of the definition that publishes to a channel."""

    actor: Actor
    channel: str
    key: str | None
    """Of a channel map; None: known only when it publishes."""
    path: Path


class Canceller(Struct, frozen=True):
    actor: Actor
    step: str | None = None
    """Cancels executions of this step."""
    is_for_siblings: bool = False
    join: str | None = None
    """Cancels a round of this join."""


class Chart:
    """Names of steps include the timeout handler's."""

    def __init__(self, flow: Flow) -> None:
        self.senders: dict[str, list[Sender]] = {name: [] for name in flow.channels}
        self.cancellers: list[Canceller] = []
        self.closers: list[Actor] = []
        self.next: dict[str, dict[str, None]] = {name: {} for name in (*flow.steps, TIMEOUT_STEP)}
        self.starts: dict[str, dict[str, None]] = {}
        """Steps that an RPC may start."""
        self._closures: dict[str, frozenset[str]] = {}
        for step in flow.steps.values():
            self._add_step(step, step.name, ActorKind.STEP)
        if flow.on_timeout is not None:
            self._add_step(flow.on_timeout, TIMEOUT_STEP, ActorKind.TIMEOUT_HANDLER)
        for rpc in flow.rpcs.values():
            self._add_rpc(rpc)
        for channel in flow.channels.values():
            if channel.is_external:
                client = Actor(ActorKind.CLIENT, "client")
                self.senders[channel.name].insert(0, Sender(client, channel.name, None, channel.path))

    def senders_of(self, channel: str, key: str | None) -> list[Sender]:
        """One for each actor that may publish there; clients, then RPCs, then steps."""
        found: dict[Actor, Sender] = {}
        for sender in self.senders[channel]:
            if sender.key is None or sender.key == key:
                found.setdefault(sender.actor, sender)
        order = [ActorKind.CLIENT, ActorKind.RPC, ActorKind.STEP, ActorKind.TIMEOUT_HANDLER]
        return sorted(found.values(), key=lambda sender: order.index(sender.actor.kind))

    def after(self, step: str) -> frozenset[str]:
        """Steps that may come after an execution of `step`; itself only where it may come again."""
        closure = self._closures.get(step)
        if closure is None:
            closure = self._closures[step] = reachable(self.next, self.next[step])
        return closure

    def from_rpc(self, rpc: str) -> frozenset[str]:
        return reachable(self.next, self.starts[rpc])

    # --- Reading the definition ---

    def _add_step(self, step: Step, name: str, kind: ActorKind) -> None:
        actor = Actor(kind, name)
        if step.wait_for is not None:
            waiting = Actor(kind, name, in_wait=True)
            self._add_effects(waiting, step.wait_for.effects)
            self._add_handler(waiting, step.wait_for.handler)
        self._add_handler(actor, step.execute)
        self._add_route(name, step.on_failure)
        for decision in _flat(step.decisions):
            self._add_decision(actor, decision)
            for movement in movements(decision):
                self.next[name][movement.step] = None
                self._add_route(movement.step, movement.options.on_failure if movement.options else None)

    def _add_rpc(self, rpc: Rpc) -> None:
        actor = Actor(ActorKind.RPC, rpc.name)
        self.starts[rpc.name] = {}
        self._add_handler(actor, rpc.handler)
        for decision in _flat(rpc.decisions):
            self._add_decision(actor, decision)
            for movement in movements(decision):
                self.starts[rpc.name][movement.step] = None
                self._add_route(movement.step, movement.options.on_failure if movement.options else None)

    def _add_route(self, step: str, route: Route | None) -> None:
        """Also one that a movement or another route gives its target (rule 118)."""
        while route is not None:
            self.next[step][route.step] = None
            step, route = route.step, route.options.on_failure if route.options else None

    def _add_decision(self, actor: Actor, decision: Decision) -> None:
        self._add_effects(actor, decision.effects)
        for step in decision.cancel:
            self.cancellers.append(Canceller(actor, step))
        for step in decision.cancel_siblings:
            self.cancellers.append(Canceller(actor, step, is_for_siblings=True))
        if decision.cancel_round is not None:
            self.cancellers.append(Canceller(actor, join=decision.cancel_round))
        closes = isinstance(decision.outcome, ForceComplete | ForceFail | ForceCompleteIfChannelsEmpty)
        if closes and actor not in self.closers:
            self.closers.append(actor)

    def _add_effects(self, actor: Actor, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Publish):
                key = None
                if effect.key is not None and effect.key.is_literal:
                    key = str(effect.key.evaluate({}))
                self.senders[effect.channel].append(Sender(actor, effect.channel, key, effect.path))

    def _add_handler(self, actor: Actor, handler: Handler | None) -> None:
        may = handler.may if handler is not None else None
        if may is None:
            return
        for channel, times in may.publish.items():
            if times.maximum != 0:
                self.senders[channel].append(Sender(actor, channel, None, may.path))
        self.cancellers += [Canceller(actor, step) for step in may.cancel]


def _flat(decisions: tuple[Decision, ...]) -> Iterator[Decision]:
    """Every decision and every `otherwise`."""
    return (decision for _, decision, _ in with_otherwise(decisions))


def reachable(following: dict[str, dict[str, None]], roots: Iterable[str]) -> frozenset[str]:
    """`roots` and whatever may follow them."""
    seen: set[str] = set()
    left = list(roots)
    while left:
        step = left.pop()
        if step not in seen:
            seen.add(step)
            left += following[step]
    return frozenset(seen)


_CHARTS: dict[str, Chart] = {}


def chart_of(flow: Flow) -> Chart:
    """Computed once per definition."""
    chart = _CHARTS.get(flow.hash)
    if chart is None or not flow.hash:
        chart = _CHARTS[flow.hash] = Chart(flow)
    return chart
