"""Follows one channel's tokens along movements and failure routes: who holds how many, where.

A failure route keeps what was held, since a failed attempt published nothing. Every decision whose guard is
not known to be false is followed. What was counted without certainty is followed too, but gives no violation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from orchestrator.definition.model import (
    DeadEnd,
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    GracefulComplete,
    Movement,
    Options,
    Path,
    Route,
    Step,
)
from orchestrator.graph.alternatives import Alternative, alternatives, count_taken
from orchestrator.graph.counts import Count, published, published_by, size_of_list
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.paths import FORCING, has_outcome, reach
from orchestrator.graph.query import with_otherwise
from orchestrator.graph.truth import Known, truth

_MOST_HELD = 8
"""A branch that gathers more tokens than this is not followed further."""


class Spot(NamedTuple):
    """A step as a branch enters it: with so many tokens, and having taken one before or not."""

    step: str
    options: Path
    held: int
    has_taken: bool


class Kind(NamedTuple):
    """What went wrong, before words are found for it."""

    code: str
    path: Path
    is_key: bool = False


@dataclass(slots=True)
class Arrival:
    """How a spot was first reached."""

    is_certain: bool
    origin: Spot | None
    path: Path
    """Of the movement or route."""


class Move(NamedTuple):
    """On to another step."""

    target: Spot
    path: Path
    is_certain: bool
    number: int
    """Of the decision, from 1; 0: the failure route."""


@dataclass(slots=True)
class Visit:
    """What happens at one spot."""

    spot: Spot
    is_certain: bool
    executing: set[int] = field(default_factory=set)
    violations: list[Kind] = field(default_factory=list)
    takes: list[Count] = field(default_factory=list)
    releases: list[Count] = field(default_factory=list)
    seeds: list[tuple[int, Count]] = field(default_factory=list)
    """With the number of the decision; 0: the wait's effects."""
    doubts: list[Path] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)


class Lineages:
    """All spots that a run can come to."""

    def __init__(
        self,
        flow: Flow,
        channel: str,
        crowds: Crowds,
        users: Iterable[str],
        *,
        stops_at_take: bool = False,
        debtors: Sequence[Movement] | None = None,
    ) -> None:
        """`stops_at_take`: branches are followed until they first take a token; violations do not count.

        `users`: all steps that take from the channel or publish to it. `debtors`: instead of the whole run,
        branches that begin with these movements and one token each.
        """
        self._flow = flow
        self._channel = channel
        self._stops_at_take = stops_at_take
        self._crowds = crowds
        self._debtors = debtors
        self._options: dict[Path, Options | None] = {(): None}
        self._ways: dict[tuple[str, Path], list[Alternative]] = {}
        self._users = frozenset(users)
        self._relevant = crowds.leading_to(self._users)
        self.arrivals: dict[Spot, Arrival] = {}
        self.visits: dict[Spot, Visit] = {}
        self._follow()

    @cached_property
    def _ends(self) -> tuple[frozenset[str], frozenset[str]]:
        return _returning(self._flow, self._channel, self._crowds)

    def _follow(self) -> None:
        queue: deque[Spot] = deque()

        def reach(spot: Spot, arrival: Arrival) -> None:
            before = self.arrivals.get(spot)
            if before is None or (arrival.is_certain and not before.is_certain):
                self.arrivals[spot] = arrival
                queue.append(spot)

        owes = self._debtors is not None
        for movement in self._crowds.roots if self._debtors is None else self._debtors:
            self._options[options_path(movement.options)] = movement.options
            reach(
                Spot(movement.step, options_path(movement.options), int(owes), owes),
                Arrival(True, None, movement.path),
            )
        while queue:
            spot = queue.popleft()
            visit = _Visitor(self, spot, self.arrivals[spot].is_certain).visit()
            self.visits[spot] = visit
            for target, path, is_certain, _ in visit.moves:
                if self._is_followed(target):
                    reach(target, Arrival(is_certain, spot, path))

    def _is_followed(self, spot: Spot) -> bool:
        """A branch without token matters only where it can still take or publish one."""
        if spot.held > _MOST_HELD or (self._stops_at_take and spot.has_taken):
            return False
        return spot.held > 0 or spot.step in self._relevant


def options_path(options: Options | None) -> Path:
    return options.path if options is not None else ()


def _returning(flow: Flow, channel: str, crowds: Crowds) -> tuple[frozenset[str], frozenset[str]]:
    """Steps from which a branch can give a token back before it takes another; that can close the run."""
    takers = {step.name for step in flow.steps.values() if _takes(step, channel)}
    own = {step.name for step in flow.steps.values() if _publishes(step, channel, step.name in takers)}
    closing = {step.name for step in flow.steps.values() if has_outcome(step, FORCING)}
    freely = {name: [s for s in sources if s not in takers] for name, sources in crowds.before.items()}
    return reach(freely, own), crowds.leading_to(closing)


def _takes(step: Step, channel: str) -> bool:
    conditions = step.wait_for.conditions if step.wait_for is not None else ()
    return any(count_taken(condition, channel) != 0 for condition in conditions)


def _publishes(step: Step, channel: str, is_taker: bool) -> bool:
    """Without having taken anything in its own wait."""
    wait = step.wait_for
    if wait is not None:
        if any(True for _ in published(wait.effects, channel, {})):
            return True
        if any(True for _ in published_by(wait.handler, channel)):
            return True
    effects = [effect for _, decision, _ in with_otherwise(step.decisions) for effect in decision.effects]
    publishes = [*published(effects, channel, {}), *published_by(step.execute, channel)]
    return bool(publishes) and not is_taker


class _Visitor:
    """One visit of a spot."""

    def __init__(self, lineages: Lineages, spot: Spot, is_certain: bool) -> None:
        self._all = lineages
        self._flow = lineages._flow
        self._channel = lineages._channel
        self._step: Step = self._flow.steps[spot.step]
        self._options = lineages._options[spot.options]
        self._visit = Visit(spot, is_certain)
        self._spot = spot
        self._number = 0

    def visit(self) -> Visit:
        key = (self._spot.step, self._spot.options)
        if key not in self._all._ways:
            is_user = self._spot.step in self._all._users
            ways = alternatives(self._step, self._channel, self._options) if is_user else [Alternative(0)]
            self._all._ways[key] = ways
        for alternative in self._all._ways[key]:
            for held, has_taken, is_certain in self._through_wait(alternative):
                self._execute(alternative.known, held, has_taken, is_certain)
        return self._visit

    # --- The wait ---

    def _through_wait(self, alternative: Alternative) -> list[tuple[int, bool, bool]]:
        """(held, has taken, is certain) of the branch that begins to execute."""
        wait, spot, is_certain = self._step.wait_for, self._spot, self._visit.is_certain
        if wait is None or alternative.has_failed:
            return [(spot.held, spot.has_taken, is_certain)]
        counts = [*published(wait.effects, self._channel, {}), *published_by(wait.handler, self._channel)]
        found = []
        for held, certain in self._give(counts, spot.held, spot.has_taken, is_certain):
            condition = next((c for c in wait.conditions if count_taken(c, self._channel) != 0), None)
            if alternative.taken is None:
                self._doubt(condition.path if condition else wait.path)
                found += [(held, spot.has_taken, False), (held + 1, True, False)]
            elif alternative.taken == 0 or condition is None:
                found.append((held, spot.has_taken, certain))
            else:
                found += self._take(
                    Count(alternative.taken, alternative.taken, condition.path), held, certain
                )
        return found

    def _take(self, take: Count, held: int, is_certain: bool) -> list[tuple[int, bool, bool]]:
        self._visit.takes.append(take)
        if held > 0:
            self._violate("TOK004", take.path, is_certain)
        return [(held + take.minimum, True, is_certain and held == 0)]

    # --- Execute and its decisions ---

    def _execute(self, known: Known, held: int, has_taken: bool, is_certain: bool) -> None:
        visit = self._visit
        visit.executing.add(held)
        before = len(visit.violations)
        calls = list(published_by(self._step.execute, self._channel))
        for number, decision in possible_decisions(self._step.decisions, known):
            self._number = number
            self._decide(decision, calls, known, held, has_taken, is_certain)
        self._number = 0
        found = {violation.code for violation in visit.violations[before:]}
        route, path = self._route()
        if route is not None:
            # A step that gives back what it has not has been reached wrongly: so has its recovery step.
            is_sound = held > 0 or "TOK003" not in found
            self._move(route.step, route.options, path, held, has_taken, is_certain and is_sound)

    def _route(self) -> tuple[Route | None, Path]:
        override = self._options.on_failure if self._options is not None else None
        route = override if override is not None else self._step.on_failure
        return route, route.path if route is not None else ()

    def _decide(
        self,
        decision: Decision,
        before: Sequence[Count],
        known: Known,
        held: int,
        has_taken: bool,
        is_certain: bool,
    ) -> None:
        counts = [*before, *published(decision.effects, self._channel, known)]
        outcome = decision.outcome
        if isinstance(outcome, GoToMany | ForceCompleteIfChannelsEmpty) and outcome.otherwise is not None:
            self._decide(outcome.otherwise, counts, known, held, has_taken, is_certain)
        if isinstance(outcome, FORCING):
            return  # the run ends, and with it what tokens are for
        for left, certain in self._give(counts, held, has_taken, is_certain):
            match outcome:
                case DeadEnd() | GracefulComplete():
                    if left > 0:
                        key = "dead_end" if isinstance(outcome, DeadEnd) else "graceful_complete"
                        self._violate("TOK002", (*decision.path, key), certain, is_key=True)
                case GoTo(movement=movement):
                    self._go(movement, left, has_taken, certain)
                case GoToMany(movements=movements):
                    self._fork(decision, movements, known, left, has_taken, certain)
                case _:
                    pass

    def _give(
        self, counts: Sequence[Count], held: int, has_taken: bool, is_certain: bool
    ) -> list[tuple[int, bool]]:
        """(held afterwards, is certain) of each way in which these publishes can turn out."""
        states = [(held, is_certain)]
        for count in counts:
            is_seed = held == 0 and not has_taken
            if not count.is_exact and not is_seed:
                self._doubt(count.path)
            most = count.maximum if count.maximum is not None else max(held, 1)
            times = range(count.minimum, min(most, count.minimum + _MOST_HELD) + 1)
            turns = [
                (self._given(count, each, now, has_taken, certain), certain and (count.is_exact or is_seed))
                for now, certain in states
                for each in times
            ]
            states = list(dict.fromkeys(turns))
        return states

    def _given(self, count: Count, times: int, held: int, has_taken: bool, is_certain: bool) -> int:
        if times == 0:
            return held
        if not has_taken and held == 0:
            self._visit.seeds.append((self._number, count))
            return 0
        if times > held:
            self._violate("TOK003", count.path, is_certain and count.is_exact)
        else:
            self._visit.releases.append(Count(times, times, count.path))
        return max(0, held - times)

    # --- Movements ---

    def _fork(
        self,
        decision: Decision,
        movements: Sequence[Movement],
        known: Known,
        held: int,
        has_taken: bool,
        is_certain: bool,
    ) -> None:
        """A token goes on with one of the branches: the one that can give it back."""
        open = [m for m in movements if truth(m.when, known) is not False and size_of_list(m.for_each) != 0]
        heirs, is_sound = self._heirs(decision, open, known, is_certain) if held > 0 else ([], True)
        for movement in open:
            is_heir = any(movement is heir for heir in heirs)
            self._go(movement, held if is_heir else 0, has_taken, is_certain and is_sound)

    def _heirs(
        self, decision: Decision, movements: list[Movement], known: Known, is_certain: bool
    ) -> tuple[list[Movement], bool]:
        """The movement that takes the tokens along, and whether that is sure; several where it is not."""
        can_return, can_close = self._all._ends
        returning = [m for m in movements if m.step in can_return]
        closing = [m for m in movements if m.step in can_close]
        if not returning and closing:
            return closing[:1], True
        able = returning or movements
        sure = [m for m in able if truth(m.when, known) is True and size_of_list(m.for_each) == 1]
        repeated = [m for m in able if m.for_each is not None and size_of_list(m.for_each) != 1]
        if len(able) == 1 and sure:
            return able, True
        place = (*decision.path, "go_to_many")
        if len(sure) > 1 or repeated:
            self._violate("TOK005", place, is_certain, is_key=True)
        else:
            self._doubt(place)
        return able, False

    def _go(self, movement: Movement, held: int, has_taken: bool, is_certain: bool) -> None:
        self._move(movement.step, movement.options, movement.path, held, has_taken, is_certain)

    def _move(
        self, step: str, options: Options | None, path: Path, held: int, has_taken: bool, is_certain: bool
    ) -> None:
        place = options_path(options)
        self._all._options.setdefault(place, options)
        move = Move(Spot(step, place, held, has_taken), path, is_certain, self._number)
        self._visit.moves.append(move)

    def _violate(self, code: str, path: Path, is_certain: bool, *, is_key: bool = False) -> None:
        if is_certain and not self._all._stops_at_take:
            self._visit.violations.append(Kind(code, path, is_key))

    def _doubt(self, path: Path) -> None:
        self._visit.doubts.append(path)


def possible_decisions(decisions: Sequence[Decision], known: Known) -> Iterator[tuple[int, Decision]]:
    """With their numbers from 1: those whose guard may hold while no earlier one surely does."""
    is_settled = False
    for number, decision in enumerate(decisions, start=1):
        holds = truth(decision.when, known)
        if holds is False or (is_settled and decision.choice is None):
            continue
        yield number, decision
        is_settled = is_settled or (holds is True and decision.choice is None)
