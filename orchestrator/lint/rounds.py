"""What can happen inside and beside the rounds of a join, as far as the definition shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.core.reach import Reach, opens_branch
from orchestrator.definition.model import (
    DeadEnd,
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    GracefulComplete,
    JoinCondition,
    Movement,
    Options,
    Path,
    Report,
    Step,
)
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.query import movements_of, with_otherwise

_MOST_NESTED = 4
"""Rounds opened inside a round; what is nested deeper is not looked at."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A decision that opens a round."""

    step: str
    join: str
    branches: tuple[Movement, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a branch leaves its round without a report, or turns back to its own split."""

    step: str
    path: Path
    opening: Opening
    is_key: bool = False
    target: str | None = None
    """The step that the branch goes on to; None: it ends."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One movement or failure route, seen from the joins."""

    target: str
    path: Path
    opened: str | None = None
    """The join of which the decision opens a round."""
    is_branch: bool = False


class Rounds:
    """Of one flow: where rounds are opened, who waits on them, who faces one."""

    def __init__(self, flow: Flow, crowds: Crowds) -> None:
        self._flow = flow
        self._crowds = crowds
        self.openings: dict[str, list[Opening]] = {join: [] for join in flow.joins}
        self.waits: dict[str, list[tuple[Step, JoinCondition]]] = {join: [] for join in flow.joins}
        self._ways: dict[str, list[_Way]] = {}
        for step in flow.steps.values() if flow.joins else ():
            for condition in step.wait_for.conditions if step.wait_for is not None else ():
                if isinstance(condition, JoinCondition):
                    self.waits[condition.join].append((step, condition))
            self._add(step)

    def _add(self, step: Step) -> None:
        ways = self._ways.setdefault(step.name, [])
        if step.on_failure is not None:
            ways.append(_Way(step.on_failure.step, step.on_failure.path))
        for _, decision, _ in with_otherwise(step.decisions):
            outcome = decision.outcome
            join = outcome.join if isinstance(outcome, GoToMany) else None
            branches = []
            for movement in movements_of(decision):
                is_branch = join is not None and opens_branch(self._flow, movement, join)
                branches += [movement] if is_branch else []
                ways.append(_Way(movement.step, movement.path, join, is_branch))
                if movement.options is not None and movement.options.on_failure is not None:
                    route = movement.options.on_failure
                    ways.append(_Way(route.step, route.path, join, is_branch))
            if join is not None:
                self.openings[join].append(Opening(step.name, join, tuple(branches), decision.path))

    def entered_without(self, join: str) -> dict[str, Path]:
        """Steps that are entered where no round of the join is faced, and the first movement that does so."""
        found: dict[str, Path] = {}
        left = deque((movement.step, False, movement.path) for movement in self._crowds.roots)
        seen: set[tuple[str, bool]] = set()
        while left:
            name, faces, path = left.popleft()
            if (name, faces) in seen:
                continue
            seen.add((name, faces))
            if not faces:
                found.setdefault(name, path)
            for way in self._ways[name]:
                is_facing = not way.is_branch and (faces or way.opened == join)
                left.append((way.target, is_facing, way.path))
        return found


@dataclass(frozen=True, slots=True)
class _Inside:
    """A step inside a round, with the joins of rounds opened since, outermost first."""

    step: str
    options: Path
    opened: tuple[str, ...]


@dataclass(slots=True)
class _Move:
    target: Movement
    opened: tuple[str, ...]


class Interior:
    """The branches of all rounds of one join, followed until they report or leave."""

    def __init__(self, flow: Flow, reach: Reach, join: str, openings: Sequence[Opening]) -> None:
        self._flow, self._reach, self._join = flow, reach, join
        self._options: dict[Path, Options | None] = {(): None}
        self._openers = {opening.step for opening in openings}
        self.misses: dict[tuple[Path, bool], Exit] = {}
        self.returns: dict[tuple[Path, bool], Exit] = {}
        self._left: list[tuple[_Inside, Opening]] = []
        self._seen: set[_Inside] = set()
        for opening in openings:
            for movement in opening.branches:
                if self._counts(movement.step, ()):
                    self._enter(movement.step, movement.options, (), opening)
        while self._left:
            self._visit(*self._left.pop())

    def _counts(self, step: str, opened: tuple[str, ...]) -> bool:
        return self._reach.counts(self._join, 1 + opened.count(self._join), step)

    def _enter(self, step: str, options: Options | None, opened: tuple[str, ...], opening: Opening) -> None:
        place = options.path if options is not None else ()
        self._options.setdefault(place, options)
        inside = _Inside(step, place, opened)
        if inside not in self._seen and len(opened) <= _MOST_NESTED:
            self._seen.add(inside)
            self._left.append((inside, opening))

    def _visit(self, inside: _Inside, opening: Opening) -> None:
        step, options = self._flow.steps[inside.step], self._options[inside.options]
        for decision in step.decisions:
            self._follow(inside, opening, decision, frozenset())
        route = (
            options.on_failure if options is not None and options.on_failure is not None else step.on_failure
        )
        if route is None:
            return
        if self._counts(route.step, inside.opened):
            self._enter(route.step, route.options, inside.opened, opening)
        else:
            self._miss(Exit(inside.step, route.path, opening, target=route.step))

    def _follow(self, inside: _Inside, opening: Opening, decision: Decision, before: frozenset[str]) -> None:
        reports = before | {effect.join for effect in decision.effects if isinstance(effect, Report)}
        outcome = decision.outcome
        if isinstance(outcome, GoToMany | ForceCompleteIfChannelsEmpty) and outcome.otherwise is not None:
            self._follow(inside, opening, outcome.otherwise, reports)
        opened = _left_open(inside.opened, reports)
        if opened is None:
            return
        moves = self._moves(outcome, opened)
        counting = [move for move in moves if self._counts(move.target.step, move.opened)]
        for move in counting:
            if move.target.step in self._openers and self._join not in move.opened:
                way = Exit(inside.step, move.target.path, opening, target=move.target.step)
                self.returns.setdefault((way.path, way.is_key), way)
            self._enter(move.target.step, move.target.options, move.opened, opening)
        if not counting and (moves or isinstance(outcome, DeadEnd | GracefulComplete)):
            self._miss(_exit(inside.step, decision, moves, opening))

    def _moves(self, outcome: object, opened: tuple[str, ...]) -> list[_Move]:
        if isinstance(outcome, GoTo):
            return [_Move(outcome.movement, opened)]
        if not isinstance(outcome, GoToMany):
            return []
        join = outcome.join
        return [
            _Move(m, (*opened, join) if join is not None and opens_branch(self._flow, m, join) else opened)
            for m in outcome.movements
        ]

    def _miss(self, way: Exit) -> None:
        self.misses.setdefault((way.path, way.is_key), way)


def _left_open(opened: tuple[str, ...], reports: frozenset[str]) -> tuple[str, ...] | None:
    """The rounds still open after these reports; None: one goes to the round looked at, or further out."""
    for join in reports:
        if join not in opened:
            return None
        innermost = len(opened) - 1 - opened[::-1].index(join)
        opened = opened[:innermost]
    return opened


def _exit(step: str, decision: Decision, moves: list[_Move], opening: Opening) -> Exit:
    match decision.outcome:
        case DeadEnd():
            return Exit(step, (*decision.path, "dead_end"), opening, is_key=True)
        case GracefulComplete():
            return Exit(step, (*decision.path, "graceful_complete"), opening, is_key=True)
        case _:
            return Exit(step, moves[0].target.path, opening, target=moves[0].target.step)
