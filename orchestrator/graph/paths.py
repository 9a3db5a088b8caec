"""Ways through a flow: what leads to what, what is reached, what runs in circles, where a run can close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from orchestrator.definition.model import (
    Decision,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GracefulComplete,
    Movement,
    Options,
    Outcome,
    Path,
    Route,
    Rpc,
    Step,
)
from orchestrator.graph.query import elements_of, movements_of, with_otherwise

CLOSING: tuple[type[Outcome], ...] = (
    GracefulComplete,
    ForceComplete,
    ForceFail,
    ForceCompleteIfChannelsEmpty,
)
FORCING: tuple[type[Outcome], ...] = (ForceComplete, ForceFail, ForceCompleteIfChannelsEmpty)


@dataclass(frozen=True, slots=True)
class FailureEdge:
    """`step` fails, `recovery` runs; `path` is where the route is written."""

    step: str
    recovery: str
    path: Path


class Paths:
    """All ways of one flow."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    @cached_property
    def movements(self) -> Mapping[str, tuple[str, ...]]:
        """Targets of each step's decisions, each once."""
        return {
            name: tuple(dict.fromkeys(movement.step for movement, _ in movements_from(step)))
            for name, step in self._flow.steps.items()
        }

    @cached_property
    def failure_edges(self) -> tuple[FailureEdge, ...]:
        """Routes of Execute: a step's own, and those that movements and routes give their targets."""
        found: list[FailureEdge] = []
        for element in elements_of(self._flow):
            is_step = self._flow.steps.get(element.name) is element
            if is_step and isinstance(element, Step) and element.on_failure is not None:
                found += _route_edges(element.name, element.on_failure)
            for movement, _ in movements_from(element):
                found += _option_edges(movement.step, movement.options)
        return tuple(dict.fromkeys(found))

    @cached_property
    def edges(self) -> Mapping[str, tuple[str, ...]]:
        """Movements and failure routes together."""
        targets = {name: list(steps) for name, steps in self.movements.items()}
        for edge in self.failure_edges:
            targets[edge.step].append(edge.recovery)
        return {name: tuple(dict.fromkeys(steps)) for name, steps in targets.items()}

    @cached_property
    def rpc_starts(self) -> Mapping[str, tuple[str, ...]]:
        """Steps that each RPC starts; RPCs that start none are left out."""
        found = {
            name: tuple(dict.fromkeys(movement.step for movement, _ in movements_from(rpc)))
            for name, rpc in self._flow.rpcs.items()
        }
        return {name: steps for name, steps in found.items() if steps}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Steps that begin a line: the start step, those of RPCs and of the timeout handler."""
        roots = [self._flow.start] if self._flow.start is not None else []
        for steps in self.rpc_starts.values():
            roots += steps
        if self._flow.on_timeout is not None:
            roots += [movement.step for movement, _ in movements_from(self._flow.on_timeout)]
        return tuple(dict.fromkeys(roots))

    @cached_property
    def reached(self) -> frozenset[str]:
        return reach(self.edges, self.roots)

    @cached_property
    def can_close(self) -> frozenset[str]:
        """Steps from which a decision that completes or fails the run can be reached."""
        return self._that_reach(CLOSING)

    @cached_property
    def can_force(self) -> frozenset[str]:
        """Steps from which a decision that closes the run at once can be reached."""
        return self._that_reach(FORCING)

    def after(self, step: str) -> frozenset[str]:
        """The step and all that can follow it."""
        return reach(self.edges, [step])

    @cached_property
    def sole(self) -> frozenset[str]:
        """Steps that can run while nothing else does: no fan-out lies on some way from the start step."""
        return reach(self._single_edges, [self._flow.start] if self._flow.start is not None else [])

    @cached_property
    def _single_edges(self) -> Mapping[str, tuple[str, ...]]:
        targets: dict[str, list[str]] = {
            name: [movement.step for movement, is_alone in movements_from(step) if is_alone]
            for name, step in self._flow.steps.items()
        }
        for edge in self.failure_edges:
            targets[edge.step].append(edge.recovery)
        return {name: tuple(steps) for name, steps in targets.items()}

    def _that_reach(self, outcomes: tuple[type[Outcome], ...]) -> frozenset[str]:
        before: dict[str, list[str]] = {name: [] for name in self._flow.steps}
        for name, targets in self.edges.items():
            for target in targets:
                before[target].append(name)
        ends = [name for name, step in self._flow.steps.items() if has_outcome(step, outcomes)]
        return reach(before, ends)


def has_outcome(element: Step | Rpc, outcomes: tuple[type[Outcome], ...]) -> bool:
    return any(isinstance(each.outcome, outcomes) for _, each, _ in with_otherwise(element.decisions))


def movements_from(element: Step | Rpc) -> Iterator[tuple[Movement, bool]]:
    """All movements of all decisions; True: it is the only one that its decision makes."""
    for _, decision, _ in with_otherwise(element.decisions):
        movements = movements_of(decision)
        for movement in movements:
            yield movement, len(movements) == 1 and movement.for_each is None


def reach(edges: Mapping[str, Iterable[str]], roots: Iterable[str]) -> frozenset[str]:
    """The roots and whatever follows them."""
    seen: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending.extend(edges.get(name, ()))
    return frozenset(seen)


def cycles(edges: Mapping[str, Iterable[str]]) -> list[frozenset[str]]:
    """The sets of names that lead to each other, those of one name that leads to itself included."""
    try:  # mostly there is none, and a short process need not load networkx to know
        TopologicalSorter(edges).prepare()
        return []
    except CycleError:
        import networkx as nx
    graph: nx.DiGraph[str] = nx.DiGraph(
        (name, target) for name, targets in edges.items() for target in targets
    )
    found = [frozenset(part) for part in nx.strongly_connected_components(graph)]
    return [part for part in found if len(part) > 1 or any(graph.has_edge(name, name) for name in part)]


def round_trip(edges: Mapping[str, Iterable[str]], members: frozenset[str], first: str) -> list[str]:
    """A shortest way from `first` back to it inside `members`: `[A, B, A]`."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(
        (name, target) for name in members for target in edges.get(name, ()) if target in members
    )
    if graph.has_edge(first, first):
        return [first, first]
    ways = [nx.shortest_path(graph, target, first) for target in sorted(graph.successors(first))]
    return [first, *min(ways, key=len)]


def decisions_of(flow: Flow) -> Iterator[tuple[Step | Rpc, Decision]]:
    """Every decision and every `otherwise`, with the step, RPC or timeout handler that takes it."""
    for element in elements_of(flow):
        for _, decision, _ in with_otherwise(element.decisions):
            yield element, decision


def _route_edges(step: str, route: Route) -> Sequence[FailureEdge]:
    return [FailureEdge(step, route.step, route.path), *_option_edges(route.step, route.options)]


def _option_edges(step: str, options: Options | None) -> Sequence[FailureEdge]:
    route = options.on_failure if options is not None else None
    return _route_edges(step, route) if route is not None else []
