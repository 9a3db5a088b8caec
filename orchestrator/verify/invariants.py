"""Sums that no event makes larger: weights on places and channels, by linear algebra, for any fan-out.

Executions are counted by step and phase. Every event of the search is a vector of changes; a weighting
without negative weights whose product with each of them is zero (a place invariant of the net, by Farkas)
keeps its sum for ever; one whose products are zero or less bounds it. An event that does the same in several
sizes must grow evenly, and its growth is one vector more: then what holds for the sizes tried holds for all.
Where it does not, or a guard looks at sizes, larger ones may do what was never seen, and nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from orchestrator.core.state import Phase
from orchestrator.definition.cel_tree import Call, Node, Read, children
from orchestrator.definition.model import Flow
from orchestrator.graph.query import iterate_values
from orchestrator.verify.places import Place
from orchestrator.verify.search import Graph
from orchestrator.verify.state import Outcome

Vector = dict[str, int]
_Row = tuple[Vector, list[int]]
"""A weighting, and how much each event changes its sum."""
_Key = frozenset[tuple[str, int]]
_SLACK = "~"
_ROW_LIMIT = 400
"""More intermediate sums than this, and the search for invariants is given up."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """`weights` by place (`EditContract executing`) or channel; their sum is `total`, or at most that."""

    weights: Mapping[str, int]
    total: int
    is_exact: bool

    def bounds(self, names: Iterable[str]) -> int | None:
        """How much there can be at these places together; None: no bound follows."""
        weights = [self.weights.get(name, 0) for name in names]
        return self.total // min(weights) if weights and min(weights) > 0 else None

    def __str__(self) -> str:
        terms = [f"{weight} x {name}" if weight > 1 else name for name, weight in self.weights.items()]
        return f"{' + '.join(terms)} {'=' if self.is_exact else '<='} {self.total}"


def executing(step: str) -> str:
    return f"{step} executing"


def waiting(step: str) -> str:
    return f"{step} waiting"


def find_invariants(graph: Graph, outcomes: Iterable[Outcome]) -> tuple[Invariant, ...]:
    """Minimal ones, of a complete search whose flow does not look at sizes; `outcomes`: all of it."""
    if not graph.is_complete or graph.pumped or graph.cut or not is_size_blind(graph.transitions.flow):
        return ()
    vectors = _vectors(graph, outcomes)
    if vectors is None:
        return ()
    names = sorted({name for vector in vectors for name in vector})
    starts = [
        _projected(graph, graph.states[number].marking, graph.states[number].queues)
        for number in graph.initial
    ]
    found = []
    for weights, is_exact in _semiflows(names, vectors):
        totals = {sum(weights.get(name, 0) * count for name, count in start.items()) for start in starts}
        if len(totals) == 1:
            found.append(Invariant(weights, totals.pop(), is_exact))
    return tuple(found)


def is_size_blind(flow: Flow) -> bool:
    """Does no guard depend on how many there are of something?"""
    guards = (
        value
        for element in (*flow.steps.values(), *flow.rpcs.values(), flow.on_timeout)
        for value in iterate_values(element)
        if value.path and value.path[-1] == "when"
    )
    return not any(_counts_something(guard.tree[0]) for guard in guards)


def _counts_something(node: Node) -> bool:
    if isinstance(node, Call) and node.function in ("size", "_<_", "_<=_", "_>_", "_>=_", "@in"):
        return True
    if isinstance(node, Read) and node.path[0] == "channels":
        return True
    return any(map(_counts_something, children(node)))


def _vectors(graph: Graph, outcomes: Iterable[Outcome]) -> list[Vector] | None:
    """What each event changes, each victim of a cancel by itself, and how events grow; None: not evenly."""
    families: dict[Hashable, dict[_Key, Vector]] = {}
    for outcome in outcomes:
        for part, vector in enumerate(_parts(graph, outcome)):
            members = families.setdefault((_family(outcome), part), {})
            members[frozenset(vector.items())] = vector
    found: dict[_Key, Vector] = {}
    for members in families.values():
        growth = _growth(list(members.values()))
        if growth is None:
            return None
        found.update(members)
        found.update((frozenset(vector.items()), vector) for vector in growth)
    return [vector for vector in found.values() if vector]


def _family(outcome: Outcome) -> Hashable:
    """The same event, whatever its sizes."""
    actor = None if outcome.actor is None else _name(outcome.actor)
    guesses = tuple((g.path, g.what, None if _is_size(g.value) else g.value) for g in outcome.guesses)
    victims = tuple(_name(place) for place, _ in outcome.cancels)
    return (outcome.kind, outcome.step, actor, outcome.decision, outcome.otherwise_count, guesses, victims)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _growth(members: list[Vector]) -> list[Vector] | None:
    """The one direction in which an event grows with its sizes; None: there are several."""
    members = sorted(members, key=lambda vector: sum(map(abs, vector.values())))
    steps: dict[_Key, Vector] = {}
    for smaller, larger in pairwise(members):
        names = {*smaller, *larger}
        step = _nonzero(Counter({name: larger.get(name, 0) - smaller.get(name, 0) for name in names}))
        divisor = gcd(*step.values()) or 1
        step = {name: change // divisor for name, change in step.items()}
        steps[frozenset(step.items())] = step
    return list(steps.values()) if len(steps) <= 1 else None


def _parts(graph: Graph, outcome: Outcome) -> Iterator[Vector]:
    if outcome.status != "RUNNING":
        return
    whole = _projected(graph, outcome.places, outcome.queues)
    for place, count in outcome.cancels:
        victim: Counter[str] = Counter({_name(place): -1})
        for (channel, _), taken in place.taken.items():
            victim[channel] += taken
        yield _nonzero(victim)
        for name, change in victim.items():
            whole[name] -= count * change
    yield _nonzero(whole)


def _projected(
    graph: Graph, marking: Iterable[tuple[int, int]], queues: Iterable[tuple[int, int]]
) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, count in marking:
        found[_name(graph.transitions.places[number])] += count
    for number, count in queues:
        found[graph.transitions.queues[number][0]] += count
    return found


def _name(place: Place) -> str:
    return executing(place.step) if place.phase is Phase.EXECUTE else waiting(place.step)


def _nonzero(counter: Counter[str]) -> Vector:
    return {name: count for name, count in counter.items() if count}


def _semiflows(names: list[str], vectors: list[Vector]) -> list[tuple[Vector, bool]]:
    """(weights, whether the sum is kept exactly). What an event may decrease is slack of its own."""
    slack = [f"{_SLACK}{number}" for number in range(len(vectors))]
    padded = [{**vector, mark: 1} for vector, mark in zip(vectors, slack, strict=True)]
    found = _eliminate([*names, *slack], padded) or _eliminate(names, vectors)
    weightings = []
    for row in found:
        weights = {name: weight for name, weight in row.items() if not name.startswith(_SLACK)}
        if weights:
            weightings.append((weights, len(weights) == len(row)))
    return weightings


def _eliminate(names: list[str], vectors: list[Vector]) -> list[Vector]:
    """Farkas: one event after the other, what increases by it is joined with what decreases as much."""
    rows: list[_Row] = [({name: 1}, [vector.get(name, 0) for vector in vectors]) for name in names]
    for column in range(len(vectors)):
        kept = [row for row in rows if row[1][column] == 0]
        gains = [row for row in rows if row[1][column] > 0]
        losses = [row for row in rows if row[1][column] < 0]
        rows = _with_minimal(kept, [_combined(gain, loss, column) for gain in gains for loss in losses])
        if len(rows) > _ROW_LIMIT:
            return []
    return [weights for weights, _ in rows]


def _combined(gain: _Row, loss: _Row, column: int) -> _Row:
    up, down = -loss[1][column], gain[1][column]
    weights = {name: up * weight for name, weight in gain[0].items()}
    for name, weight in loss[0].items():
        weights[name] = weights.get(name, 0) + down * weight
    changes = [up * one + down * other for one, other in zip(gain[1], loss[1], strict=True)]
    divisor = gcd(*weights.values(), *changes)
    return {name: weight // divisor for name, weight in weights.items()}, [
        each // divisor for each in changes
    ]


def _with_minimal(rows: list[_Row], added: list[_Row]) -> list[_Row]:
    """Without the added ones whose places include all of another's; the others are minimal already."""
    kept: list[_Row] = []
    tested = {id(row) for row in added}
    for row in sorted(rows + added, key=lambda row: len(row[0])):
        places = row[0].keys()
        if id(row) not in tested or not any(other[0].keys() <= places for other in kept):
            kept.append(row)
    return kept
