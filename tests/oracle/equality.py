"""The verifier's graph in the oracle's words: both must have the same states and ways between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from orchestrator.core.state import Phase, Status
from orchestrator.verify.places import Place
from orchestrator.verify.search import Graph
from orchestrator.verify.state import State as Searched
from tests.oracle.model import STATUSES, Model
from tests.oracle.spin import Space, State

Way = tuple[State, State]


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph without names: what both sides can be reduced to."""

    states: frozenset[State]
    ways: frozenset[Way]


def shape_of_search(graph: Graph, model: Model) -> Shape:
    states = [_state(graph, each, model) for each in graph.states]
    ways = {(states[number], states[after]) for number, edges in enumerate(graph.edges) for _, after in edges}
    return Shape(frozenset(states), frozenset(ways))


def shape_of_space(space: Space) -> Shape:
    closed = {state: _closed(space.model, state) for state in space.states}
    ways = {(closed[a], closed[b]) for a, nexts in space.successors.items() for b in nexts}
    return Shape(frozenset(closed.values()), frozenset(ways))


def _state(graph: Graph, searched: Searched, model: Model) -> State:
    counts: Counter[str] = Counter()
    for number, count in searched.marking:
        counts[_place(graph.transitions.places[number], model)] += count
    for number, count in searched.queues:
        counts[f"channel_{graph.transitions.queues[number][0]}"] += count
    for name, frozen in zip(sorted(model.attributes), searched.data, strict=False):
        counts[f"attribute_{name}"] = int(frozen == ("is", "bool", True))
    for source, budget in zip(graph.transitions.sources, searched.budget, strict=False):
        counts[f"budget_{source.channel}"] = budget
    counts["graceful"] = int(searched.is_completing)
    counts["status"] = STATUSES.index(searched.status.lower())
    return _closed(model, tuple(counts[name] for name in model.variables))


def _place(place: Place, model: Model) -> str:
    """Executions that differ in nothing that the oracle knows are counted together."""
    if place.phase is not Phase.EXECUTE:
        return f"waiting_{place.step}"
    wait = place.wait
    winners: frozenset[str] = frozenset()
    if wait is not None and wait.results is not None:
        pairs = zip(wait.conditions, wait.results, strict=True)
        winners = frozenset(condition.id for condition, result in pairs if result.is_satisfied)
    taken = {channel: count for (channel, _), count in place.taken.items()}
    return model.place_after(place.step, winners, taken).name


def _closed(model: Model, state: State) -> State:
    """Of a closed run only the status counts and, where it has completed, what was left unread."""
    values = dict(zip(model.variables, state, strict=True))
    if STATUSES[values["status"]] == Status.RUNNING.lower():
        return state
    has_completed = STATUSES[values["status"]] == Status.COMPLETED.lower()
    kept = {
        name: count
        for name, count in values.items()
        if name == "status" or (has_completed and name.startswith("channel_"))
    }
    return tuple(kept.get(name, 0) for name in model.variables)
