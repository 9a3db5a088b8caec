"""What there is to do for an execution whose time has come, and under which options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase
from orchestrator.definition.model import (
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    Handler,
    MethodOverride,
    Movement,
    Options,
    Path,
    Route,
    Step,
)


class TaskKind(StrEnum):
    EVALUATE_WAIT = "evaluate_wait"
    """No handler: report WaitForSucceeded without a wait."""
    TAKE_LOCKS = "take_locks"
    """The method has locks: report LocksRequested; when it holds them it is due again."""
    CALL_WAIT_FOR = "call_wait_for"
    FIRE_TIMER = "fire_timer"
    DECIDE = "decide"
    """No handler: report ExecuteSucceeded with a null result."""
    CALL_EXECUTE = "call_execute"


def task_of(flow: Flow, execution: Execution) -> TaskKind:
    """What to do when `execution.due_at` has come."""
    phase = execution.phase
    if phase is Phase.WAITING:
        return TaskKind.FIRE_TIMER
    handler = options = _handler(step_of(flow, execution), phase)
    if execution.options_path is not None:
        options = method_options(flow, execution)
    if options is not None and options.locks and not execution.locks:
        return TaskKind.TAKE_LOCKS
    if phase is Phase.WAIT_FOR:
        return TaskKind.CALL_WAIT_FOR if handler is not None else TaskKind.EVALUATE_WAIT
    return TaskKind.CALL_EXECUTE if handler is not None else TaskKind.DECIDE


def step_of(flow: Flow, execution: Execution) -> Step:
    if execution.step == TIMEOUT_STEP:
        return flow.on_timeout or _NO_STEP
    return flow.steps[execution.step]


_NO_STEP = Step(name=TIMEOUT_STEP)


_NO_HANDLER = Handler(name="")


def method_options(flow: Flow, execution: Execution) -> Handler:
    """Handler and options of the current method, overrides applied (rule 118)."""
    handler = _handler(step_of(flow, execution), execution.phase) or _NO_HANDLER
    if execution.options_path is None:
        return handler
    options = find_options(flow, execution.options_path)
    if options is None:
        return handler
    return _override(handler, options.execute if execution.phase is Phase.EXECUTE else options.wait_for)


def _handler(step: Step, phase: Phase) -> Handler | None:
    if phase is Phase.EXECUTE:
        return step.execute
    return None if step.wait_for is None else step.wait_for.handler


def failure_route(flow: Flow, execution: Execution) -> Route | None:
    """Where a failed Execute goes (rule 151)."""
    options = find_options(flow, execution.options_path)
    if options is not None and options.on_failure is not None:
        return options.on_failure
    return step_of(flow, execution).on_failure


def proceeds_on_wait_failure(flow: Flow, execution: Execution) -> bool:
    """Rule 150."""
    options = find_options(flow, execution.options_path)
    if options is not None and options.wait_for is not None and options.wait_for.on_failure is not None:
        return options.wait_for.on_failure == "proceed"
    wait_for = step_of(flow, execution).wait_for
    return wait_for is not None and wait_for.proceeds_on_failure


def _override(handler: Handler, override: MethodOverride | None) -> Handler:
    if override is None:
        return handler
    return replace(
        handler,
        retry=override.retry or handler.retry,
        timeout=override.timeout or handler.timeout,
        heartbeat=override.heartbeat or handler.heartbeat,
        locks=handler.locks if override.locks is None else override.locks,
        loads=handler.loads if override.loads is None else override.loads,
        durability=override.durability or handler.durability,
    )


def find_options(flow: Flow, path: Path | None) -> Options | None:
    """The options of the movement or route that stands at `path`."""
    if path is None:
        return None
    for place in _places(flow, path):
        if place.path == path:
            return place.options
    return None


def _places(flow: Flow, path: Path) -> Iterator[Movement | Route]:
    section, name = path[0], str(path[1]) if len(path) > 1 else ""
    if section == "rpcs":
        for decision in flow.rpcs[name].decisions:
            yield from movements(decision)
        return
    step = flow.on_timeout if section == "on_timeout" else flow.steps.get(name)
    if step is None:
        return
    if step.on_failure is not None:
        yield from _routes(step.on_failure)
    for decision in step.decisions:
        for movement in movements(decision):
            yield movement
            if movement.options and movement.options.on_failure:
                yield from _routes(movement.options.on_failure)


def _routes(route: Route) -> Iterator[Route]:
    yield route
    if route.options and route.options.on_failure:
        yield from _routes(route.options.on_failure)


def movements(decision: Decision) -> Iterator[Movement]:
    """Every movement that the decision may make, those of its `otherwise` included."""
    outcome = decision.outcome
    if isinstance(outcome, GoTo):
        yield outcome.movement
    elif isinstance(outcome, GoToMany):
        yield from outcome.movements
        if outcome.otherwise is not None:
            yield from movements(outcome.otherwise)
    elif isinstance(outcome, ForceCompleteIfChannelsEmpty):
        yield from movements(outcome.otherwise)
