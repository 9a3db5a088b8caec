"""Which steps can still report to a round: the static part of joins (language.md 5.1), once per definition.

`C[n]` of a join: the steps from which an execution can still report to the n-th round of that join on its
line, counted from the innermost (1). A least fixpoint over movements and failure routes; where a report to
another join may leave rounds of this one, it errs on the side of "can still report".
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from orchestrator.core.tasks import movements
from orchestrator.definition.model import (
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    JoinCondition,
    Movement,
    Report,
    Route,
    Step,
)

MAXIMUM_DEPTH = 100
"""Rounds nested deeper are refused."""


class _Move(Struct, frozen=True):
    """One way on from a step: what the decision reports, and a step that it starts (None: nothing)."""

    reports: frozenset[str]
    target: str | None
    opens: str | None = None
    """The join that the target opens a branch of."""


class Reach:
    """`counts(join, level, step)` for one flow."""

    def __init__(self, flow: Flow) -> None:
        self._moves: dict[str, list[_Move]] = {name: [] for name in flow.steps}
        for step in flow.steps.values():
            for name, move in _moves(flow, step):
                self._moves[name].append(move)
        self._levels = {join: self._solve(join) for join in flow.joins}

    def counts(self, join: str, level: int, step: str) -> bool:
        levels = self._levels[join]
        return step in levels[min(level, len(levels)) - 1]

    def _solve(self, join: str) -> list[set[str]]:
        depth = min(MAXIMUM_DEPTH, len(self._moves) + 1)
        levels: list[set[str]] = [set() for _ in range(depth)]
        changed = True
        while changed:
            changed = False
            for step, moves in self._moves.items():
                for index in range(depth):
                    if step not in levels[index] and any(
                        self._reaches(join, m, index, levels) for m in moves
                    ):
                        levels[index].add(step)
                        changed = True
        return levels

    @staticmethod
    def _reaches(join: str, move: _Move, index: int, levels: list[set[str]]) -> bool:
        if join in move.reports:
            return index == 0 or move.target in levels[index - 1]
        if move.reports:
            return any(move.target in level for level in levels[: index + 1])
        if move.opens == join:
            return move.target in levels[min(index + 1, len(levels) - 1)]
        return move.target in levels[index]


def opens_branch(flow: Flow, movement: Movement, join: str) -> bool:
    """False: the movement stays outside the round, because it says so or because its target waits on it."""
    wait_for = flow.steps[movement.step].wait_for
    conditions = wait_for.conditions if wait_for else ()
    return movement.branch and not any(isinstance(c, JoinCondition) and c.join == join for c in conditions)


def _moves(flow: Flow, step: Step) -> Iterator[tuple[str, _Move]]:
    """(step that makes it, move); a route that a movement overrides is one of its target."""
    yield from _route_moves(step.name, step.on_failure)
    for decision in step.decisions:
        yield from _decision_moves(flow, step.name, decision, frozenset())
        for movement in movements(decision):
            yield from _route_moves(movement.step, movement.options.on_failure if movement.options else None)


def _route_moves(step: str, route: Route | None) -> Iterator[tuple[str, _Move]]:
    while route is not None:
        yield step, _Move(frozenset(), route.step)
        step, route = route.step, route.options.on_failure if route.options else None


def _decision_moves(
    flow: Flow, step: str, decision: Decision, outer: frozenset[str]
) -> Iterator[tuple[str, _Move]]:
    reports = outer | {effect.join for effect in decision.effects if isinstance(effect, Report)}
    yield step, _Move(reports, None)
    outcome = decision.outcome
    if isinstance(outcome, GoTo):
        yield step, _Move(reports, outcome.movement.step)
    elif isinstance(outcome, GoToMany):
        for movement in outcome.movements:
            opened = outcome.join if outcome.join and opens_branch(flow, movement, outcome.join) else None
            yield step, _Move(reports, movement.step, opened)
        if outcome.otherwise is not None:
            yield from _decision_moves(flow, step, outcome.otherwise, reports)
    elif isinstance(outcome, ForceCompleteIfChannelsEmpty):
        yield from _decision_moves(flow, step, outcome.otherwise, reports)


_REACHES: dict[str, Reach] = {}


def reach_of(flow: Flow) -> Reach:
    """Computed once per definition."""
    reach = _REACHES.get(flow.hash)
    if reach is None or not flow.hash:
        reach = _REACHES[flow.hash] = Reach(flow)
    return reach
