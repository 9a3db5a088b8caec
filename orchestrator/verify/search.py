"""The state space of a definition, breadth first: the first way found to a state is a shortest one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from orchestrator.core.state import Status
from orchestrator.verify.report import Guess
from orchestrator.verify.state import Outcome, State
from orchestrator.verify.transitions import Transitions

DEFAULT_DEPTH = 3
Progress = Callable[[int], None]
"""Told now and then how many states there are."""


@dataclass(slots=True)
class Graph:
    """All states found, by number. `edges[n]` are the ways out of state n; a state not expanded has none."""

    transitions: Transitions
    states: list[State] = field(default_factory=list)
    edges: list[list[tuple[Outcome, int]]] = field(default_factory=list)
    parents: list[tuple[int, Outcome] | None] = field(default_factory=list)
    initial: dict[int, tuple[Guess, ...]] = field(default_factory=dict)
    is_complete: bool = True
    """False: the budget was spent before every state was expanded."""
    pumped: list[tuple[int, int]] = field(default_factory=list)
    """(state, the ancestor that it repeats with more in it): what happened between can happen for ever."""

    cut: set[int] = field(default_factory=set)
    """States with ways that nest rounds deeper than the bound, which were not followed."""

    def add(self, state: State, parent: tuple[int, Outcome] | None) -> None:
        self.states.append(state)
        self.edges.append([])
        self.parents.append(parent)

    def path_to(self, number: int) -> list[tuple[int, Outcome]]:
        """The shortest way: (state before, what happened)."""
        found: list[tuple[int, Outcome]] = []
        parent = self.parents[number]
        while parent is not None:
            found.append(parent)
            parent = self.parents[parent[0]]
        return found[::-1]

    def depth(self, number: int) -> int:
        return len(self.path_to(number))


def explore(
    transitions: Transitions,
    max_states: int,
    progress: Progress | None = None,
    *,
    depth: int = DEFAULT_DEPTH,
) -> Graph:
    """Breadth first until nothing is new or there are `max_states`; rounds nested to `depth` at most."""
    graph = Graph(transitions)
    states = graph.states
    numbers: dict[State, int] = {}
    for state, guesses in transitions.initial():
        number = numbers.setdefault(state, len(states))
        if number == len(states):
            graph.add(state, None)
        graph.initial[number] = guesses
    limit = transitions.largest + _CROWD
    position = 0
    while position < len(states):
        if len(states) >= max_states:
            graph.is_complete = False
            break
        state = states[position]
        if state.status is Status.RUNNING and not (_is_crowded(state, limit) and _is_pumped(graph, position)):
            edges = graph.edges[position]
            for outcome in transitions.outcomes(state):
                if outcome.depth > depth:
                    graph.cut.add(position)
                    continue
                for after in transitions.after(state, outcome):
                    number = numbers.setdefault(after, len(states))
                    if number == len(states):
                        graph.add(after, (position, outcome))
                    edges.append((outcome, number))
        position += 1
        if progress is not None and position % 1000 == 0:
            progress(len(states))
    return graph


_CROWD = 8
"""From so many messages or executions of a kind on, growth is looked for."""


def _is_crowded(state: State, limit: int) -> bool:
    crowd = 0
    for _, count in state.marking:
        crowd += count
    for _, count in state.queues:
        if count > limit:
            return True
    return crowd > limit


def _is_pumped(graph: Graph, number: int) -> bool:
    """Does the state repeat an ancestor, with more in it? Then it is not followed further."""
    state = graph.states[number]
    for before in _ancestors(graph, number):
        if _covers(state, graph.states[before]):
            graph.pumped.append((number, before))
            return True
    return False


def first_growth(graph: Graph, number: int) -> tuple[int, int]:
    """On the way to a pumped state, the first to repeat an earlier one with more in it: (earlier, later)."""
    way = [*(state for state, _ in graph.path_to(number)), number]
    for position, later in enumerate(way):
        for earlier in way[:position]:
            if _covers(graph.states[later], graph.states[earlier]):
                return earlier, later
    raise AssertionError(f"state {number} is not pumped")


def _ancestors(graph: Graph, number: int) -> Iterator[int]:
    parent = graph.parents[number]
    while parent is not None:
        yield parent[0]
        parent = graph.parents[parent[0]]


def _covers(state: State, before: State) -> bool:
    """More of something, no less of anything, and the rest the same: the way between can be repeated."""
    if state[2:] != before[2:]:
        return False
    return _at_least(state.marking, before.marking) and _at_least(state.queues, before.queues)


def _at_least(counts: tuple[tuple[int, int], ...], before: tuple[tuple[int, int], ...]) -> bool:
    have = dict(counts)
    return all(have.get(number, 0) >= count for number, count in before)
