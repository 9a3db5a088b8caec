"""What of a run's data can matter to where it goes: all else is forgotten, or every value were a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from orchestrator.core.tasks import movements
from orchestrator.definition.expressions import Value
from orchestrator.definition.model import (
    ChannelCondition,
    Decision,
    Flow,
    JoinCondition,
    Movement,
    Route,
    Rpc,
    Step,
)
from orchestrator.graph.query import iterate_values, with_otherwise
from orchestrator.verify.unknown import EVERYTHING, NOTHING, Paths

Read = tuple[str, ...]


class Relevance:
    """Of one definition."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._steering = {step.name: frozenset(_steering_reads(step)) for step in flow.steps.values()}
        self._deciders: list[Step | Rpc] = [*flow.steps.values(), *flow.rpcs.values()]
        if flow.on_timeout is not None:
            self._deciders.append(flow.on_timeout)

    @cached_property
    def inputs(self) -> dict[str, Paths]:
        """By step, the parts of its input that its guards and counts read, or those of a step it goes to."""
        found = {name: _below(reads, "input") for name, reads in self._steering.items()}
        is_changed = True
        while is_changed:
            is_changed = False
            for step in reversed([*self._flow.steps.values()]):  # what is read comes from further on
                more = found[step.name].union(*self._passed_on(step, found))
                if more != found[step.name]:
                    found[step.name], is_changed = more, True
        return {name: EVERYTHING if () in paths else paths for name, paths in found.items()}

    @cached_property
    def run_input(self) -> Paths:
        """The parts of the start input that are read as `run.input`."""
        paths = frozenset(read[2:] for read in self._all_steering() if read[:2] == ("run", "input"))
        return EVERYTHING if () in paths else paths

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Plain attributes whose values steer."""
        names = {read[1] for read in self._all_steering() if read[0] == "attributes" and len(read) > 1}
        if any(read == ("attributes",) for read in self._all_steering()):
            names = set(self._flow.attributes)
        return frozenset(name for name in names if not self._flow.attributes[name].is_map)

    @cached_property
    def locals(self) -> frozenset[str]:
        return frozenset(read[1] for read in self._all_steering() if read[0] == "local" and len(read) > 1)

    @cached_property
    def channels(self) -> dict[str, frozenset[str]]:
        """By step or RPC, the channels whose sizes its decisions look at."""
        return {decider.name: frozenset(_sized_channels(decider)) for decider in self._deciders}

    def _all_steering(self) -> Iterator[Read]:
        for decider in self._deciders:
            yield from _steering_reads(decider)
            for movement in _movements(decider):
                if self.inputs[movement.step]:
                    yield from _reads(movement.input)

    def _passed_on(self, step: Step, found: dict[str, Paths]) -> Iterator[Paths]:
        for movement in _movements(step):
            wanted = found[movement.step]
            if not wanted:
                continue
            if movement.input is not None:
                yield _below(_reads(movement.input), "input")
            elif movement.for_each is not None:
                yield _below(_reads(movement.for_each), "input")
            else:
                yield wanted
        for route in self._routes(step):
            yield found[route.step]

    def _routes(self, step: Step) -> Iterator[Route]:
        """Its own, and those that movements to it put in its place."""
        if step.on_failure is not None:
            yield from _chain(step.on_failure)
        for route in self._replacing_routes.get(step.name, ()):
            yield from _chain(route)

    @cached_property
    def _replacing_routes(self) -> dict[str, list[Route]]:
        """By step, the routes that movements to it put in the place of its own."""
        found: dict[str, list[Route]] = {}
        for decider in self._deciders:
            for movement in _movements(decider):
                if movement.options and movement.options.on_failure:
                    found.setdefault(movement.step, []).append(movement.options.on_failure)
        return found


def _steering_reads(decider: Step | Rpc) -> Iterator[Read]:
    """What its guards, lists and counts read."""
    for value in _steering_values(decider):
        yield from _reads(value)


def _steering_values(element: Any) -> Iterator[Value]:
    """Guards, lists, counts and keys, however deep."""
    if isinstance(element, tuple):
        for part in element:
            yield from _steering_values(part)
        return
    if isinstance(element, Step | Rpc):
        yield from _steering_values(element.decisions)
        if isinstance(element, Step) and element.wait_for is not None:
            yield from _steering_values((element.wait_for.conditions, element.wait_for.effects))
        return
    for name in ("when", "for_each"):
        value = getattr(element, name, None)
        if isinstance(value, Value):
            yield value
    if isinstance(element, ChannelCondition):
        yield from (v for v in (element.exactly, element.at_least, element.at_most) if v is not None)
    elif isinstance(element, JoinCondition) and isinstance(element.need, Value):
        yield element.need
    elif isinstance(element, Decision):
        yield from _steering_values(element.effects)
        if element.outcome is not None:
            outcome = element.outcome
            yield from _steering_values(getattr(outcome, "movements", ()))
            otherwise = getattr(outcome, "otherwise", None)
            if isinstance(otherwise, Decision):
                yield from _steering_values(otherwise)


def _reads(value: Value | None) -> frozenset[Read]:
    return frozenset() if value is None else value.reads


def _below(reads: Iterable[Read], root: str) -> Paths:
    return frozenset(read[1:] for read in reads if read[0] == root) or NOTHING


def _movements(decider: Step | Rpc) -> Iterator[Movement]:
    for decision in decider.decisions:
        yield from movements(decision)


def _chain(route: Route) -> Iterator[Route]:
    """A route may give the recovery step a route of its own."""
    yield route
    if route.options and route.options.on_failure:
        yield from _chain(route.options.on_failure)


def _sized_channels(decider: Step | Rpc) -> Iterator[str]:
    for value in iterate_values(decider):
        for read in value.reads:
            if read[0] == "channels":
                yield read[1] if len(read) > 1 else "*"
    for _, decision, _ in with_otherwise(decider.decisions):
        yield from getattr(decision.outcome, "channels", ())
