"""What the properties ask of a state space, computed once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from orchestrator.core.state import Phase, Status
from orchestrator.definition.model import Flow, Publish, Rpc
from orchestrator.graph.holding import sections
from orchestrator.graph.query import movements_of, with_otherwise
from orchestrator.graph.section import Evidence, Section
from orchestrator.verify.invariants import Invariant, executing, find_invariants
from orchestrator.verify.places import Place
from orchestrator.verify.search import Graph
from orchestrator.verify.sources import Source
from orchestrator.verify.state import Counts, Outcome, State

Edge = tuple[int, Outcome, int]


class Held(NamedTuple):
    """Tokens: for certain, and at most, where that depends on the way that somebody came."""

    least: int
    most: int


class HeldByOne(NamedTuple):
    least: int
    most: int
    returned: int
    """For certain, or given back as if it had come with it."""


class Analysis:
    """One definition and its states."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.flow: Flow = graph.transitions.flow

    @property
    def places(self) -> list[Place]:
        return self.graph.transitions.places

    def running(self) -> Iterator[tuple[int, State]]:
        """In the order found, so the first that violates something does so soonest."""
        return ((number, state) for number, state in enumerate(self.graph.states) if state.is_running)

    def edges(self) -> Iterator[Edge]:
        for number, edges in enumerate(self.graph.edges):
            for outcome, target in edges:
                yield number, outcome, target

    @cached_property
    def outcomes(self) -> Mapping[Outcome, None]:
        """Each once, in the order found; there are far fewer than edges."""
        return dict.fromkeys([outcome for edges in self.graph.edges for outcome, _ in edges])

    @cached_property
    def invariants(self) -> tuple[Invariant, ...]:
        return find_invariants(self.graph, self.outcomes)

    def proof_of_bound(self, steps: Iterable[str], limit: int) -> Invariant | None:
        """Why at most `limit` executions of these steps are under way together, whatever the fan-out."""
        names = [executing(step) for step in steps]
        for invariant in self.invariants:
            bound = invariant.bounds(names)
            if bound is not None and bound <= limit:
                return invariant
        return None

    # --- The flow -------------------------------------------------------------------------------------------

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Channels that are certain to carry tokens."""
        return tuple(each for each in sections(self.flow) if each.evidence is not Evidence.WEAK)

    @cached_property
    def is_open_ended(self) -> bool:
        """May a run stay open by design? One without steps, which only answers RPCs, may."""
        return bool(self.flow.verify.get("open_ended", False)) or not self.flow.steps

    @cached_property
    def fed_from_outside(self) -> frozenset[str]:
        """Channels that a client may publish to, itself or by an RPC."""
        found = {source.channel for source in self._sources if source.channel is not None}
        for rpc in self._rpcs:
            found.update(_published(rpc))
        return frozenset(found)

    @property
    def _sources(self) -> Iterator[Source]:
        """Those that the author's bounds let do anything."""
        return (source for source in self.graph.transitions.sources if source.budget > 0)

    @property
    def _rpcs(self) -> Iterator[Rpc]:
        return (self.flow.rpcs[source.rpc] for source in self._sources if source.rpc is not None)

    @cached_property
    def can_be_started_from_outside(self) -> bool:
        """Does an RPC start steps?"""
        return any(
            movements_of(decision) for rpc in self._rpcs for _, decision, _ in with_otherwise(rpc.decisions)
        )

    @cached_property
    def _cancelled_from_outside(self) -> frozenset[str]:
        """Steps that an RPC may cancel."""
        found: set[str] = set()
        for rpc in self._rpcs:
            if rpc.handler is not None and rpc.handler.may is not None:
                found.update(rpc.handler.may.cancel)
            for _, decision, _ in with_otherwise(rpc.decisions):
                found.update(decision.cancel)
        return frozenset(found)

    # --- States ---------------------------------------------------------------------------------------------

    @cached_property
    def _unfollowed(self) -> set[int]:
        """Running states with ways that the search did not take."""
        return self.graph.cut.union(number for number, _ in self.graph.pumped)

    @cached_property
    def halted(self) -> list[int]:
        """Running states in which nothing of the flow itself can happen; clients apart, and its deadline."""
        found = []
        for number, edges in enumerate(self.graph.edges):
            for outcome, _ in edges:
                if not is_from_outside(outcome):
                    break
            else:
                found.append(number)
        return [
            number
            for number in found
            if self.graph.states[number].is_running
            and number not in self._unfollowed
            and self._is_expanded(number)
        ]

    @cached_property
    def dead(self) -> list[int]:
        """Halted for ever: no client and no deadline, which comes once, can help."""
        has_deadline = self.flow.timeout is not None
        return [
            number
            for number in self.halted
            if not (has_deadline and not self.graph.states[number].has_timed_out)
            and not self.awaits_outside(number)
        ]

    def awaits_outside(self, number: int) -> bool:
        """Could a client still move the run, had it more to say?"""
        if self.can_be_started_from_outside:
            return True
        state = self.graph.states[number]
        if any(place.step in self._cancelled_from_outside for place, _ in self.active(state)):
            return True
        for place, _ in self.active(state):
            if place.phase is not Phase.WAITING or place.wait is None:
                continue
            for group in place.wait.groups:
                conditions = [place.wait.conditions[index] for index in group]
                if any(each.channel in self.fed_from_outside for each in conditions if each.channel):
                    return True
        return False

    def active(self, state: State) -> Iterator[tuple[Place, int]]:
        return ((self.places[number], count) for number, count in state.marking)

    def executing(self, state: State) -> Counter[str]:
        """Executions between their wait and their decision, by step.

        Where no handler is called, the commit that ends the wait takes the decision: nothing comes between.
        """
        found: Counter[str] = Counter()
        for place, count in self.active(state):
            if place.phase is Phase.EXECUTE and place.step not in self._deciding_at_once:
                found[place.step] += count
        return found

    @cached_property
    def _deciding_at_once(self) -> frozenset[str]:
        steps = self.flow.steps.values()
        return frozenset(step.name for step in steps if step.wait_for is not None and step.execute is None)

    def unread(self, queues: Counts, channel: str) -> int:
        """Messages of the channel; of an outcome's queues, how many more there are."""
        channels = self.graph.transitions.queues
        return sum([count for number, count in queues if channels[number][0] == channel])

    def held(self, marking: Counts, section: Section) -> Held:
        """Tokens that executions hold: what their wait took, and what they came with."""
        weights = self._held_by(section)
        least = most = 0
        for number, count in marking:
            of_one = weights[number]
            least += count * of_one.least
            most += count * of_one.most
        return Held(least, most)

    def inside(self, marking: Counts, section: Section) -> int:
        """Tokens held for certain, and those that a step gives back as if it had come with one."""
        weights = self._held_by(section)
        return sum([count * weights[number].returned for number, count in marking])

    def _held_by(self, section: Section) -> list[HeldByOne]:
        """By one execution, place by place."""
        found = self._weights.get(section.channel)
        if found is None:
            found = self._weights[section.channel] = [_held_at(place, section) for place in self.places]
        return found

    @cached_property
    def _weights(self) -> dict[str, list[HeldByOne]]:
        """By the channel of a section."""
        return {}

    def _is_expanded(self, number: int) -> bool:
        return self.graph.is_complete or bool(self.graph.edges[number]) or number < self._first_unexpanded

    @cached_property
    def _first_unexpanded(self) -> int:
        expanded = [number for number, edges in enumerate(self.graph.edges) if edges]
        return expanded[-1] + 1 if expanded else 0

    # --- Ways -----------------------------------------------------------------------------------------------

    @cached_property
    def reverse(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.graph.states]
        for source, _, target in self.edges():
            found[target].append(source)
        return found

    @cached_property
    def unaided(self) -> list[list[int]]:
        """Reversed, without what clients do."""
        found: list[list[int]] = [[] for _ in self.graph.states]
        for source, outcome, target in self.edges():
            if outcome.source is None:
                found[target].append(source)
        return found

    def leading_to(self, goals: Iterable[int], ways: list[list[int]] | None = None) -> set[int]:
        """States from which one of `goals` can be reached, by `ways` reversed: all, or `unaided`."""
        seen = set(goals)
        if not seen:
            return seen
        if ways is None:
            missed = self._sweep(seen, range(len(self.graph.states) - 1, -1, -1))
            if not self._sweep(seen, missed):
                return seen
        reverse = self.reverse if ways is None else ways
        pending = deque(seen)
        while pending:
            for source in reverse[pending.popleft()]:
                if source not in seen:
                    seen.add(source)
                    pending.append(source)
        return seen

    def _sweep(self, seen: set[int], numbers: Iterable[int]) -> list[int]:
        """Add those with a way to one seen; gives the others.

        Most ways lead to states found later: the last first, one look at each finds nearly all.
        """
        edges, missed = self.graph.edges, []
        for number in numbers:
            for _, target in edges[number]:
                if target in seen:
                    seen.add(number)
                    break
            else:
                if number not in seen:
                    missed.append(number)
        return missed

    @cached_property
    def closing(self) -> set[int]:
        """States from which the run can close, or only the outside has a say, or nobody looked further."""
        waiting = set(self.halted).difference(self.dead)
        unknown = [*self._unfollowed]
        if not self.graph.is_complete:
            unknown += range(self._first_unexpanded, len(self.graph.states))
        return self.leading_to([*self.closed, *waiting, *unknown])

    @cached_property
    def lost(self) -> list[int]:
        """All others, in the order found."""
        return sorted(set(range(len(self.graph.states))) - self.closing)

    def cycle_from(self, number: int) -> list[tuple[int, Outcome]]:
        """The shortest way from a state back to itself, [] if there is none."""
        parents: dict[int, tuple[int, Outcome]] = {}
        pending = deque([number])
        while pending:
            state = pending.popleft()
            for outcome, target in self.graph.edges[state]:
                if target == number:
                    return [*_way(parents, state, number), (state, outcome)]
                if target not in parents and target != number:
                    parents[target] = (state, outcome)
                    pending.append(target)
        return []

    @cached_property
    def closed(self) -> list[int]:
        running = Status.RUNNING
        return [number for number, state in enumerate(self.graph.states) if state.status is not running]

    @cached_property
    def completed(self) -> list[tuple[int, State]]:
        states = self.graph.states
        return [(n, states[n]) for n in self.closed if states[n].status is Status.COMPLETED]


def _way(parents: dict[int, tuple[int, Outcome]], state: int, start: int) -> list[tuple[int, Outcome]]:
    found = []
    while state != start:
        found.append(parents[state])
        state = parents[state][0]
    return found[::-1]


def _held_at(place: Place, section: Section) -> HeldByOne:
    # Another condition than the token's may have ended the wait.
    taken = place.taken.get((section.channel, None), 0) if place.is_executing else 0
    sure, possible = section.least_on_entry.get(place.step), section.held_on_entry.get(place.step, 0)
    returns = sure is None and any(release.step == place.step for release in section.releases)
    least = taken + (sure or 0)
    return HeldByOne(least, taken + possible, least + (possible if returns else 0))


def _published(rpc: Rpc) -> Iterator[str]:
    if rpc.handler is not None and rpc.handler.may is not None:
        yield from rpc.handler.may.publish
    for _, decision, _ in with_otherwise(rpc.decisions):
        yield from (effect.channel for effect in decision.effects if isinstance(effect, Publish))


def is_from_outside(outcome: Outcome) -> bool:
    """A client's doing, or the deadline."""
    return outcome.source is not None or outcome.times_out
