"""Handlers at work while their run is moved, and the `options` that executions run under."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.migration.comparison import Comparison, Stand
from orchestrator.core.migration.verdicts import Obstacle, Standing
from orchestrator.core.state import Phase
from orchestrator.core.tasks import find_options, method_options, movements
from orchestrator.definition.model import Flow, Handler, Movement, Path, Route, Step


def check_running(case: Comparison, stand: Stand, source: Step, target: Step) -> Iterator[Obstacle]:
    """What a handler of the old definition returns is judged by the new one: its contract must be the same.

    The same holds for locks that are held or waited for.
    """
    execution = stand.execution
    has_locks = execution is not None and bool(execution.locks or execution.wanted_locks)
    if stand.standing is not Standing.RUNNING and not has_locks:
        return
    is_wait_for = stand.phase is Phase.WAIT_FOR
    if is_wait_for:
        before = (
            (source.wait_for.handler, [c.id for c in source.wait_for.conditions]) if source.wait_for else None
        )
        after = (
            (target.wait_for.handler, [c.id for c in target.wait_for.conditions]) if target.wait_for else None
        )
        is_same = before is not None and after is not None and before[1] == after[1]
        is_same = is_same and _contract(before[0] if before else None) == _contract(
            after[0] if after else None
        )
    else:
        is_same = _contract(source.execute) == _contract(target.execute) and source.result == target.result
        is_same = is_same and _choices(source) <= _choices(target)
    if execution is not None and is_same:
        is_same = _same_locks(case, stand)
    if not is_same or case.old.handlers != case.new.handlers:
        what = "a handler is at work here" if stand.standing is Standing.RUNNING else "it holds locks"
        yield Obstacle(
            stand.place, f"{what} whose declaration changes: wait until it has ended, or pause the flow"
        )


def _choices(step: Step) -> set[str]:
    return {decision.choice for decision in step.decisions if decision.choice is not None}


def _contract(handler: Handler | None) -> object:
    """What a handler and the engine rely on while it is at work; times and retries only count afterwards."""
    if handler is None:
        return None
    return (handler.name, handler.may, handler.locks, handler.loads, handler.transactional)


def _same_locks(case: Comparison, stand: Stand) -> bool:
    assert stand.execution is not None
    before = method_options(case.old, stand.execution).locks
    target = case.target(stand.step)
    after = target.execute if target is not None and stand.phase is Phase.EXECUTE else None
    if target is not None and stand.phase is Phase.WAIT_FOR:
        after = target.wait_for.handler if target.wait_for is not None else None
    if stand.execution.options_path is not None:
        moved = find_options_path(case, stand.execution.options_path, stand.step)
        options = find_options(case.new, moved)
        if options is not None:
            override = options.execute if stand.phase is Phase.EXECUTE else options.wait_for
            if override is not None and override.locks is not None:
                return before == override.locks
    return before == (after.locks if after is not None else ())


# --- Options ------------------------------------------------------------------------------------------------


def check_options(case: Comparison, stand: Stand) -> Iterator[Obstacle]:
    execution = stand.execution
    paths = _paths_to(case.old, stand.step) if execution is None else [execution.options_path]
    for path in paths:
        if path is not None and find_options_path(case, path, stand.step) is None:
            place = ".".join(str(part) for part in path[:4])
            yield Obstacle(stand.place, f"it runs under the `options` of {place}, which is gone")
            return


def find_options_path(case: Comparison, path: Path, step: str) -> Path | None:
    """Where the movement or route is in the new definition: one with equal options, else one in its place."""
    owner = (str(path[0]), str(path[1]) if len(path) > 1 else "")
    target = case.renaming.step(step)
    if owner[0] == "steps":
        owner = (owner[0], case.renaming.step(owner[1]))
    places = [each for each in _places(case.new, owner) if each.options is not None and each.step == target]
    options = find_options(case.old, path)
    equal = [each for each in places if each.options == options]
    here = (*owner, *path[2:]) if owner[0] != "on_timeout" else path
    for candidates in (equal, places):
        found = [each.path for each in candidates if each.path == here] or [each.path for each in candidates]
        if len(found) == 1 or (found and candidates is equal):
            return found[0]
    return None


def _paths_to(flow: Flow, step: str) -> list[Path | None]:
    owners = [("steps", name) for name in flow.steps] + [("rpcs", name) for name in flow.rpcs]
    return [
        place.path
        for owner in (*owners, ("on_timeout", ""))
        for place in _places(flow, owner)
        if place.options is not None and place.step == step
    ]


def _places(flow: Flow, owner: tuple[str, str]) -> Iterator[Movement | Route]:
    section, name = owner
    if section == "rpcs":
        decider = flow.rpcs.get(name)
        for decision in decider.decisions if decider is not None else ():
            yield from movements(decision)
        return
    step = flow.on_timeout if section == "on_timeout" else flow.steps.get(name)
    if step is None:
        return
    yield from _routes(step.on_failure)
    for decision in step.decisions:
        for movement in movements(decision):
            yield movement
            yield from _routes(movement.options.on_failure if movement.options else None)


def _routes(route: Route | None) -> Iterator[Route]:
    while route is not None:
        yield route
        route = route.options.on_failure if route.options is not None else None
