"""Rules about ways that lead back: loops that never rest, failure routes in a circle (GRA006, GRA007)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from orchestrator.definition.model import Combinator, Decision, GoTo, GoToMany, Path, SetAttribute, Step
from orchestrator.definition.problem import Problem
from orchestrator.graph.paths import cycles, movements_from, round_trip
from orchestrator.graph.query import movements_of, read_paths, with_otherwise
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule
from orchestrator.lint.rules.waits import holds_at_once


def find_busy_loops(facts: Facts) -> Iterator[Problem]:
    """An error where the loop has no way out; a warning where it can only spin until others let it out.

    A loop that waits somewhere, or calls a handler and can be left, is none.
    """
    steps = {name: step for name, step in facts.flow.steps.items() if not _waits(step)}
    edges = {name: [to for to in facts.paths.movements[name] if to in steps] for name in steps}
    for members in cycles(edges):
        first = next(name for name in facts.flow.steps if name in members)
        has_handler = any(steps[name].execute is not None for name in members)
        if all(_always_stays(steps[name], members) for name in members):
            severity, why = ("warning" if has_handler else "error"), "and no way out"
        elif any(_has_conditions(steps[name]) for name in members):
            continue
        elif not has_handler and not _changes_its_guards(facts, members):
            severity, why = "warning", "and changes nothing that its guards read: it waits by spinning"
        else:
            continue
        trip = round_trip(edges, members, first)
        has_waits = any(_has_conditions(steps[name]) for name in members)
        rest = "only waits that hold at once" if has_waits else "neither wait nor timer"
        yield facts.problem(
            "GRA006",
            f"the cycle {' → '.join(trip)} has {rest}, {why}",
            _movement_path(steps[first], trip[1]),
            also=[(_movement_path(steps[name], to), "goes on here") for name, to in pairwise(trip[1:])],
            help="let one of the steps wait, for a timer at least, or end the loop after a number of rounds",
            severity=severity,
        )


def _waits(step: Step) -> bool:
    return _has_conditions(step) and step.wait_for is not None and not holds_at_once(step.wait_for)


def _has_conditions(step: Step) -> bool:
    return step.wait_for is not None and step.wait_for.combinator is not Combinator.NONE


def _always_stays(step: Step, members: frozenset[str]) -> bool:
    """Every decision starts one of them, whatever holds."""
    return all(_stays(decision, members) for decision in step.decisions) and step.on_failure is None


def _stays(decision: Decision, members: frozenset[str]) -> bool:
    match decision.outcome:
        case GoTo(movement=movement):
            return movement.step in members
        case GoToMany(movements=movements):
            return any(
                each.step in members and each.when is None and each.for_each is None for each in movements
            )
        case _:
            return False


def _changes_its_guards(facts: Facts, members: frozenset[str]) -> bool:
    """Something that the guards read may be another thing in the next round."""
    steps = [facts.flow.steps[name] for name in members]
    reads = {
        path
        for step in steps
        for _, decision, _ in with_otherwise(step.decisions)
        for guard in (decision.when, *(each.when for each in movements_of(decision)))
        if guard is not None
        for path in read_paths(guard)
    }
    effects = [effect for step in steps for decision in step.decisions for effect in decision.effects]
    effects += [effect for step in steps if step.wait_for is not None for effect in step.wait_for.effects]
    written = {effect.attribute for effect in effects if isinstance(effect, SetAttribute)}
    has_inputs = any(
        movement.step in members and (movement.input is not None or movement.for_each is not None)
        for step in steps
        for movement, _ in movements_from(step)
    )
    return any(
        (path[0] == "input" and has_inputs)
        or (path[0] == "attributes" and (len(path) < 2 or path[1] in written))
        for path in reads
    )


def _movement_path(step: Step, target: str) -> Path:
    return next(movement.path for movement, _ in movements_from(step) if movement.step == target)


def find_failure_route_cycles(facts: Facts) -> Iterator[Problem]:
    """A recovery step whose own failure leads back. Routes to the same step are FAI003."""
    edges: dict[str, list[str]] = {}
    for edge in facts.paths.failure_edges:
        edges.setdefault(edge.step, []).append(edge.recovery)
    for members in cycles(edges):
        if len(members) == 1:
            continue
        first = next(name for name in facts.flow.steps if name in members)
        trip = round_trip(edges, members, first)
        paths = [_route_path(facts, one, other) for one, other in pairwise(trip)]
        yield facts.problem(
            "GRA007",
            f"failure routes lead in a circle: {' → '.join(trip)}",
            paths[0],
            also=[(path, "and back from here") for path in paths[1:]],
            help="let the last recovery step fail the run, or end the line",
        )


def _route_path(facts: Facts, step: str, recovery: str) -> Path:
    return next(e.path for e in facts.paths.failure_edges if e.step == step and e.recovery == recovery)


RULES: list[Rule] = [find_busy_loops, find_failure_route_cycles]
