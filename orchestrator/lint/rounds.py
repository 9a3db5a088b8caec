"""What can happen inside and beside the rounds of a join, as far as the definition shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
from orchestrator.graph.lineages import root_movements
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


def openings(flow: Flow) -> Iterator[Opening]:
    for step in flow.steps.values():
        for _, decision, _ in with_otherwise(step.decisions):
            outcome = decision.outcome
            if isinstance(outcome, GoToMany) and outcome.join is not None:
                join = outcome.join
                branches = tuple(m for m in outcome.movements if opens_branch(flow, m, join))
                yield Opening(step.name, join, branches, decision.path)


def waits_on(flow: Flow, join: str) -> Iterator[tuple[Step, JoinCondition]]:
    for step in flow.steps.values():
        for condition in step.wait_for.conditions if step.wait_for is not None else ():
            if isinstance(condition, JoinCondition) and condition.join == join:
                yield step, condition


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

    def __init__(self, flow: Flow, reach: Reach, join: str) -> None:
        self._flow, self._reach, self._join = flow, reach, join
        self._options: dict[Path, Options | None] = {(): None}
        self._openers = {opening.step for opening in openings(flow) if opening.join == join}
        self.misses: dict[tuple[Path, bool], Exit] = {}
        self.returns: dict[tuple[Path, bool], Exit] = {}
        self._left: list[tuple[_Inside, Opening]] = []
        self._seen: set[_Inside] = set()
        for opening in openings(flow):
            for movement in opening.branches if opening.join == join else ():
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


# --- Facing ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Facing:
    """For one join: movements by which a step is entered without facing a round of it."""

    without: dict[str, Path] = field(default_factory=dict)
    """By step: the first such movement or route."""


def facing(flow: Flow, join: str) -> Facing:
    """Follows all movements from where a run begins: who faces a round of the join, and who does not."""
    found = Facing()
    seen: set[tuple[str, bool]] = set()
    left = [(movement.step, False, movement.path) for movement in root_movements(flow)]
    while left:
        name, faces, path = left.pop(0)
        if (name, faces) in seen:
            continue
        seen.add((name, faces))
        if not faces:
            found.without.setdefault(name, path)
        step = flow.steps[name]
        if step.on_failure is not None:
            left.append((step.on_failure.step, faces, step.on_failure.path))
        for _, decision, _ in with_otherwise(step.decisions):
            left += list(_faced(flow, decision, join, faces))
    return found


def _faced(flow: Flow, decision: Decision, join: str, faces: bool) -> Iterator[tuple[str, bool, Path]]:
    outcome = decision.outcome
    opened = outcome.join if isinstance(outcome, GoToMany) else None
    for movement in movements_of(decision):
        is_branch = opened is not None and opens_branch(flow, movement, opened)
        is_facing = not is_branch and (faces or opened == join)
        yield movement.step, is_facing, movement.path
        if movement.options is not None and movement.options.on_failure is not None:
            yield movement.options.on_failure.step, is_facing, movement.options.on_failure.path
