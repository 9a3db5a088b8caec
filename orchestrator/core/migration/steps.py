"""May an execution that stands somewhere under the old definition go on under the new one?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from orchestrator.core.migration.comparison import Comparison, Stand
from orchestrator.core.migration.fitting import Holding, known, misfit
from orchestrator.core.migration.methods import check_options, check_running
from orchestrator.core.migration.supply import check_supply
from orchestrator.core.migration.verdicts import BETWEEN, Obstacle
from orchestrator.core.migration.waits import check_wait
from orchestrator.core.rounds import join_of
from orchestrator.core.state import TIMEOUT_STEP, Phase, Run
from orchestrator.definition.model import Step
from orchestrator.graph.query import read_paths


def check_stand(case: Comparison, stand: Stand, run: Run | None = None) -> list[Obstacle]:
    """`run`: the whole run, where it is known."""
    obstacles = _check(case, stand, run)
    if all(obstacle.mapping is not None for obstacle in obstacles):
        return obstacles
    advised, texts = case.advised
    if not texts:
        return obstacles
    rest = _check(advised, stand, run)
    if any(obstacle.mapping is None for obstacle in rest):
        return obstacles
    mapping = BETWEEN.join(dict.fromkeys([*texts, *(each.mapping or "" for each in rest)]))
    return [
        each if each.mapping is not None else structs.replace(each, mapping=mapping) for each in obstacles
    ]


def _check(case: Comparison, stand: Stand, run: Run | None) -> list[Obstacle]:
    target = case.target(stand.step)
    if stand.step == TIMEOUT_STEP:
        return list(_check_deadline(case, stand, target))
    if target is None:
        return [_gone(case, stand, run)]
    source = case.old.steps[stand.step]
    return [
        *_check_input(stand, source, target),
        *_check_phase(case, stand, source, target),
        *check_options(case, stand),
        *check_running(case, stand, source, target),
        *_check_failure(stand, source, target),
        *_check_rounds(case, stand, target),
        *_check_needs(case, stand, target, run),
        *check_supply(case, stand, source, target, run),
    ]


def _gone(case: Comparison, stand: Stand, run: Run | None) -> Obstacle:
    """With a step that could take its place: first one that the old did not have, of the same handler."""
    reason = f"step {stand.step} is not in the new definition"
    if stand.step in case.renaming.steps:
        return Obstacle(stand.place, reason)
    handler = _handler(case.old.steps[stand.step])
    new = [name for name in case.new.steps if name not in case.old.steps]
    new.sort(key=lambda name: _handler(case.new.steps[name]) != handler)
    for name in (*new, *(name for name in case.new.steps if name in case.old.steps)):
        renaming = structs.replace(case.renaming, steps={**case.renaming.steps, stand.step: name})
        obstacles = _check(case.renamed(renaming), stand, run)
        if all(obstacle.mapping is not None for obstacle in obstacles):
            mapping = BETWEEN.join([f"step:{stand.step}={name}", *(o.mapping or "" for o in obstacles)])
            return Obstacle(stand.place, reason, mapping)
    return Obstacle(stand.place, f"{reason}, and none of its steps could take its place")


def _handler(step: Step) -> str | None:
    return None if step.execute is None else step.execute.name


def _check_input(stand: Stand, source: Step, target: Step) -> Iterator[Obstacle]:
    held = known(stand.execution.input) if stand.execution is not None else Holding(type=source.input)
    if (why := misfit(held, target.input)) is not None:
        yield Obstacle(stand.place, f"its input does not fit step {target.name}: {why}")
    elif target.input is None and source.input is not None and _reads(target, "input"):
        yield Obstacle(stand.place, f"step {target.name} takes no input any more")


def _check_phase(case: Comparison, stand: Stand, source: Step, target: Step) -> Iterator[Obstacle]:
    if stand.phase is Phase.WAIT_FOR:
        if target.wait_for is None:
            yield Obstacle(stand.place, f"it is about to wait, but step {target.name} no longer waits")
        return
    yield from check_wait(case, stand, source, target)


def _check_failure(stand: Stand, source: Step, target: Step) -> Iterator[Obstacle]:
    """A step that has become a recovery step may count on a failure being there."""
    has_failure = stand.execution is not None and stand.execution.failure is not None
    if _reads(target, "failure") and not _reads(source, "failure") and not has_failure:
        yield Obstacle(stand.place, f"step {target.name} now reads `failure`, and there was none")


def _check_rounds(case: Comparison, stand: Stand, target: Step) -> Iterator[Obstacle]:
    """Joins that count on a report from here must still get one."""
    if stand.execution is not None:
        levels: dict[str, int] = {}
        for place in reversed(stand.execution.line):
            join = join_of(place.round)
            levels[join] = levels.get(join, 0) + 1
            if case.renaming.join(join) not in case.new.joins:
                yield Obstacle(stand.place, f"it is inside a round of join {join}, which is gone")
            elif _stops_counting(case, stand.step, target.name, join, levels[join]):
                yield _silent(stand, join)
        return
    for join in sorted(case.old_outlook.inside[stand.step]):
        if case.renaming.join(join) not in case.new.joins:
            yield Obstacle(stand.place, f"it may be inside a round of join {join}, which is gone")
        elif any(
            _stops_counting(case, stand.step, target.name, join, level)
            for level in range(1, len(case.old.steps) + 2)
        ):
            yield _silent(stand, join)


def _stops_counting(case: Comparison, step: str, target: str, join: str, level: int) -> bool:
    counted = case.old_reach.counts(join, level, step)
    return counted and not case.new_reach.counts(case.renaming.join(join), level, target)


def _silent(stand: Stand, join: str) -> Obstacle:
    return Obstacle(stand.place, f"join {join} counts on a report from here, and none could come any more")


def _check_needs(case: Comparison, stand: Stand, target: Step, run: Run | None) -> Iterator[Obstacle]:
    """What steps ahead ask for in the new definition, and did not ask for in the old one."""
    old, new, rename = case.old_outlook, case.new_outlook, case.renaming
    line = faces = None
    if stand.execution is not None:
        line = {rename.join(join_of(place.round)) for place in stand.execution.line}
        faces = {rename.join(join) for join in stand.execution.faces}
    step, name = stand.step, target.name
    for join in sorted(new.faces[name] - set(map(rename.join, old.faces[step])) - (faces or set())):
        yield Obstacle(stand.place, f"a step ahead waits for join {join}, of which it faces no round")
    for join in sorted(new.reports[name] - set(map(rename.join, old.reports[step])) - (line or set())):
        yield Obstacle(stand.place, f"a step ahead reports to join {join}, of which it is inside no round")
    open_joins = (faces or set()) | (line or set())
    for join in sorted(new.cancels[name] - set(map(rename.join, old.cancels[step])) - open_joins):
        yield Obstacle(stand.place, f"a step ahead cancels the round of join {join}, of which there is none")
    missing = new.set_by_steps & new.reads[name] - set(map(rename.attribute, old.reads[step]))
    for attribute in sorted(missing - set(_provided(case, run))):
        yield Obstacle(
            stand.place,
            f"a step ahead reads attribute {attribute}, which only steps before this one set",
        )


def _provided(case: Comparison, run: Run | None) -> Iterable[str]:
    """Attributes that have a value, or get their initial one when the run is moved."""
    old_names = {case.renaming.attribute(name): a for name, a in case.old.attributes.items()}
    for name, attribute in case.new.attributes.items():
        before = old_names.get(name)
        if attribute.initial is not None and (before is None or before.initial is None):
            yield name
    if run is not None:
        yield from map(case.renaming.attribute, run.attributes)


def _check_deadline(case: Comparison, stand: Stand, target: Step | None) -> Iterator[Obstacle]:
    execution = stand.execution
    policy = execution.locals.get("policy") if execution is not None else None
    if execution is None and case.old.timeout is not None:
        policy = case.old.timeout.policy.value
    if policy == "handler" and target is None:
        yield Obstacle(stand.place, "its deadline is handled by `on_timeout`, which is gone")
    if target is not None and case.old.on_timeout is not None:
        yield from check_running(case, stand, case.old.on_timeout, target)


def _reads(step: Step, name: str) -> bool:
    """A handler is taken to read its input, and nothing else of this."""
    paths = read_paths((step.wait_for, step.execute, step.let, step.decisions))
    return any(path[:1] == (name,) for path in paths) or (name == "input" and step.execute is not None)
