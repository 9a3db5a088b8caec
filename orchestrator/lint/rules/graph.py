"""Rules about ways through a flow: not reached, never ending, started twice (GRA001, 002, 008 to 012)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.model import (
    ChannelCondition,
    DeadEnd,
    Decision,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    GoToMany,
    JoinCondition,
    Movement,
    Path,
    Rpc,
    Step,
)
from orchestrator.definition.problem import Edit, Fix, Problem
from orchestrator.graph.labels import OUTCOME_NAMES
from orchestrator.graph.paths import CLOSING, decisions_of, has_outcome, movements_from, reach
from orchestrator.graph.query import elements_of, movements_of, with_otherwise
from orchestrator.graph.subjects import takes_exactly_one
from orchestrator.lint.editing import removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule

STEP_LIMIT = 25
OUTCOME_LIMIT = 75
"""Three a step, where there are as many steps as are still easy to follow."""


# --- GRA001 -------------------------------------------------------------------------------------------------


def find_unreachable_steps(facts: Facts) -> Iterator[Problem]:
    """No way from the start step, an RPC or the timeout handler."""
    lost = [name for name in facts.flow.steps if name not in facts.paths.reached]
    before = _movements_by_target(facts, lost)
    for name in lost:
        start = facts.flow.start
        whence = f"from `{start}`" if start is not None else "by any RPC, and the flow has no `start`"
        sources = before.get(name, [])
        yield facts.problem(
            "GRA001",
            f"`{name}` cannot be reached {whence}",
            ("steps", name),
            is_key=True,
            also=[(movement.path, f"`{source}` is not reached either") for source, movement in sources[:1]],
            help=f"go to `{name}` from a step that is reached, or remove it",
            fix=_removal_of_unreached(facts, name, lost),
        )


def _movements_by_target(facts: Facts, lost: list[str]) -> dict[str, list[tuple[str, Movement]]]:
    found: dict[str, list[tuple[str, Movement]]] = {}
    for source in lost:
        for movement, _ in movements_from(facts.flow.steps[source]):
            found.setdefault(movement.step, []).append((source, movement))
    return found


def _removal_of_unreached(facts: Facts, name: str, lost: list[str]) -> Fix | None:
    """With those unreached steps that lead to it; none where a step that stays names one of them."""
    before: dict[str, list[str]] = {}
    for source in lost:
        for target in facts.paths.edges[source]:
            before.setdefault(target, []).append(source)
    doomed = reach(before, [name])
    if _cancelled_steps(facts) & doomed or "properties" in facts.flow.verify:
        return None
    if len(doomed) == len(facts.flow.steps):
        return None
    edits = [removal(facts.source, ("steps", each)) for each in facts.flow.steps if each in doomed]
    if any(edit is None for edit in edits):
        return None
    names = ", ".join(f"`{each}`" for each in facts.flow.steps if each in doomed)
    return Fix(f"delete {names}", tuple(edit for edit in edits if edit is not None), is_safe=False)


def _cancelled_steps(facts: Facts) -> set[str]:
    """Steps that some decision or handler cancels."""
    found: set[str] = set()
    for element, decision in decisions_of(facts.flow):
        handler = element.handler if isinstance(element, Rpc) else element.execute
        found.update(decision.cancel, decision.cancel_siblings)
        found.update(handler.may.cancel if handler is not None and handler.may is not None else ())
    return found


# --- GRA002, GRA009 -----------------------------------------------------------------------------------------


def find_flows_without_end(facts: Facts) -> Iterator[Problem]:
    """No decision that is reached completes or fails the run, and nothing else does."""
    if _may_stay_open(facts) or _closes(facts):
        return
    yield facts.problem(
        "GRA002",
        "no decision ever completes or fails a run, and it has no timeout",
        ("start",),
        help="let a step end with graceful_complete, set a `timeout`, or say `verify: {open_ended: true}`",
    )


def find_lines_that_only_dead_end(facts: Facts) -> Iterator[Problem]:
    """The only line of a run takes a way on which nobody completes the run."""
    if _may_stay_open(facts) or not _closes(facts) or facts.paths.rpc_starts:
        return
    for name in facts.flow.steps:
        if name not in facts.paths.sole or name not in facts.paths.can_close:
            continue
        for _, decision, _ in with_otherwise(facts.flow.steps[name].decisions):
            if (why := _dead_end_reason(facts, name, decision)) is not None:
                yield facts.problem(
                    "GRA009",
                    why,
                    outcome_path(decision),
                    is_key=True,
                    help="complete or fail the run here, or go on to a step that does",
                )


def _dead_end_reason(facts: Facts, name: str, decision: Decision) -> str | None:
    if isinstance(decision.outcome, DeadEnd):
        return f"`{name}` ends the only line of the run here: nobody is left to complete it"
    targets = dict.fromkeys(movement.step for movement in movements_of(decision))
    if not targets or any(target in facts.paths.can_close for target in targets):
        return None
    names = " and ".join(f"`{target}`" for target in targets)
    return f"what `{name}` starts here ({names}) can only dead-end: nobody will complete the run"


def _may_stay_open(facts: Facts) -> bool:
    """A run without start step lives for its RPCs."""
    flow = facts.flow
    return flow.start is None or flow.timeout is not None or flow.verify.get("open_ended") is True


def _closes(facts: Facts) -> bool:
    handler = facts.flow.on_timeout
    if handler is not None and has_outcome(handler, CLOSING):
        return True
    return bool(facts.paths.can_close & facts.paths.reached)


# --- GRA008, GRA010, GRA012 ---------------------------------------------------------------------------------


def find_repeated_movements(facts: Facts) -> Iterator[Problem]:
    """The same target, input and guard twice in one fan-out."""
    for element, decision in decisions_of(facts.flow):
        if not isinstance(decision.outcome, GoToMany):
            continue
        seen: dict[Movement, Movement] = {}
        for movement in decision.outcome.movements:
            first = seen.setdefault(movement, movement)
            if first is movement:
                continue
            edit = removal(facts.source, movement.path)
            yield facts.problem(
                "GRA008",
                f"{_who(element)} goes to `{movement.step}` twice with the same input",
                movement.path,
                also=[(first.path, "first here")],
                help="remove one of the two; for two workers alike, write for_each over range(2)",
                fix=_fix("delete the second one", edit, is_safe=False),
            )


def find_open_fan_outs(facts: Facts) -> Iterator[Problem]:
    """A branch completes the run at once without having waited for the others."""
    for element, decision in decisions_of(facts.flow):
        outcome = decision.outcome
        if not isinstance(outcome, GoToMany) or outcome.join is not None or not _is_plural(outcome):
            continue
        targets = [movement.step for movement in outcome.movements]
        ends = _steps_that_force(facts, targets)
        if ends:
            yield facts.problem(
                "GRA010",
                f"{_who(element)} starts {_count_of(outcome)} branches; `{ends[0]}` completes the run "
                "without waiting for the others",
                outcome_path(decision),
                is_key=True,
                also=[(("steps", ends[0]), "cuts off what the others still do")],
                help="let one step wait for the others by a join, or complete with graceful_complete",
            )


def _is_plural(outcome: GoToMany) -> bool:
    return len(outcome.movements) > 1 or any(each.for_each is not None for each in outcome.movements)


def _count_of(outcome: GoToMany) -> str:
    return (
        "many"
        if any(each.for_each is not None for each in outcome.movements)
        else str(len(outcome.movements))
    )


def _steps_that_force(facts: Facts, targets: list[str]) -> list[str]:
    """Where a branch force-completes, no wait for what the branches publish or report on its way."""
    after = reach(facts.paths.edges, targets)
    published = {
        name
        for name, use in facts.uses.channels.items()
        if any(place.path[:1] == ("steps",) and place.path[1] in after for place in use.publishers)
    }
    edges = {
        name: facts.paths.edges[name] for name in after if not _gathers(facts.flow.steps[name], published)
    }
    passed = reach(edges, targets)
    forcing = (ForceComplete, ForceCompleteIfChannelsEmpty)
    return [
        name
        for name in facts.flow.steps
        if name in passed & edges.keys() and has_outcome(facts.flow.steps[name], forcing)
    ]


def _gathers(step: Step, published: set[str]) -> bool:
    conditions = step.wait_for.conditions if step.wait_for is not None else ()
    return any(
        isinstance(each, JoinCondition) or (isinstance(each, ChannelCondition) and each.channel in published)
        for each in conditions
    )


def find_reentered_start(facts: Facts) -> Iterator[Problem]:
    """A movement to the start step publishes once more what it seeds."""
    start = facts.flow.steps.get(facts.flow.start or "")
    seeds = dict(_seeds(facts, start)) if start is not None else {}
    if start is None or not seeds:
        return
    entries: list[tuple[str, Path]] = []
    for element in elements_of(facts.flow):
        entries += [
            (_who(element), each.path) for each, _ in movements_from(element) if each.step == start.name
        ]
    entries += [
        (f"`{e.step}`, where it fails,", e.path)
        for e in facts.paths.failure_edges
        if e.recovery == start.name
    ]
    for who, path in entries:
        for channel, seed in seeds.items():
            yield facts.problem(
                "GRA012",
                f"{who} goes to the start step, which publishes `{channel}` anew",
                path,
                also=[(seed, f"`{channel}` is seeded here")],
                help="go to a step behind the seed, or seed in a step of its own that is entered once",
            )


def _seeds(facts: Facts, start: Step) -> Iterator[tuple[str, Path]]:
    """Channels that the start step publishes to, and that a step which takes a message gives one back to."""
    around = _edges_without(facts, start.name)
    for channel, use in facts.uses.channels.items():
        own = [each.path for each in use.publishers if each.path[:2] == start.path]
        publishers = {each.path[1] for each in use.publishers if each.path[:1] == ("steps",)}
        takers = [each.step.name for each in use.waits if takes_exactly_one(each.condition)]
        if own and start.name not in takers and publishers & reach(around, takers):
            yield channel, own[0]


def _edges_without(facts: Facts, step: str) -> dict[str, list[str]]:
    """Which steps follow which, not by way of one."""
    return {name: [to for to in targets if to != step] for name, targets in facts.paths.edges.items()}


# --- GRA011 -------------------------------------------------------------------------------------------------


def find_large_flows(facts: Facts) -> Iterator[Problem]:
    step_count = len(facts.flow.steps)
    outcome_count = sum(1 for _ in decisions_of(facts.flow))
    if step_count > STEP_LIMIT or outcome_count > OUTCOME_LIMIT:
        yield facts.problem(
            "GRA011",
            f"the flow has {step_count} steps and {outcome_count} decisions",
            ("flow",),
            help="consider a subflow for a part that has an input and an output of its own",
        )


def outcome_path(decision: Decision) -> Path:
    """Where the outcome of a decision is written; its key stands at the same place."""
    name = OUTCOME_NAMES.get(type(decision.outcome)) if decision.outcome is not None else None
    return decision.path if name is None else (*decision.path, name)


def _who(element: Step | Rpc) -> str:
    return f"RPC `{element.name}`" if isinstance(element, Rpc) else f"`{element.name}`"


def _fix(message: str, edit: Edit | None, *, is_safe: bool) -> Fix | None:
    return Fix(message, (edit,), is_safe) if edit is not None else None


RULES: list[Rule] = [
    find_unreachable_steps,
    find_flows_without_end,
    find_lines_that_only_dead_end,
    find_repeated_movements,
    find_open_fan_outs,
    find_reentered_start,
    find_large_flows,
]
