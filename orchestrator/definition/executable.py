"""What the language has and this release's engine does not execute yet: a table from feature to finder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator.definition.model import (
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    Handler,
    Options,
    Path,
    Step,
)
from orchestrator.definition.problem import Problem

Finder = Callable[[Flow], Iterator[Path]]


def check_executable(flow: Flow) -> list[Problem]:
    """One problem for each place that uses a feature the engine does not have yet; empty for most flows."""
    problems = []
    for feature, find in FINDERS.items():
        for path in find(flow):
            assert flow.source is not None
            position = flow.source.locate(path)
            problems.append(
                Problem(
                    "ENG001",
                    f"{feature} cannot be executed yet by this release's engine",
                    flow.source.path,
                    position.key or position.value,
                    severity="info",
                    flow=flow.name,
                )
            )
    return sorted(problems, key=lambda problem: problem.span)


# --- Finders -----------------------------------------------------------------------------------------------


def _find_rpcs(flow: Flow) -> Iterator[Path]:
    yield from (rpc.path for rpc in flow.rpcs.values())


def _find_heartbeats(flow: Flow) -> Iterator[Path]:
    yield from ((*handler.path, "heartbeat") for handler in _handlers(flow) if handler.heartbeat is not None)
    for options in _options(flow):
        if options.execute is not None and options.execute.heartbeat is not None:
            yield (*options.path, "execute", "heartbeat")


def _find_transactional(flow: Flow) -> Iterator[Path]:
    yield from ((*handler.path, "transactional") for handler in _handlers(flow) if handler.transactional)


FINDERS: dict[str, Finder] = {}
"""Shrinks as the engine grows; delete a line when the feature is executed."""


# --- Walks -------------------------------------------------------------------------------------------------


def _steps(flow: Flow) -> Iterator[Step]:
    yield from flow.steps.values()
    if flow.on_timeout is not None:
        yield flow.on_timeout


def _handlers(flow: Flow) -> Iterator[Handler]:
    for step in _steps(flow):
        if step.execute is not None:
            yield step.execute
        if step.wait_for is not None and step.wait_for.handler is not None:
            yield step.wait_for.handler
    yield from (rpc.handler for rpc in flow.rpcs.values() if rpc.handler is not None)


def _decisions(owner: Step) -> Iterator[Decision]:
    for decision in owner.decisions:
        yield from _with_otherwise(decision)


def _with_otherwise(decision: Decision) -> Iterator[Decision]:
    yield decision
    outcome = decision.outcome
    if isinstance(outcome, GoToMany | ForceCompleteIfChannelsEmpty) and outcome.otherwise is not None:
        yield from _with_otherwise(outcome.otherwise)


def _options(flow: Flow) -> Iterator[Options]:
    for step in _steps(flow):
        yield from _route_options(step.on_failure.options if step.on_failure is not None else None)
        for decision in _decisions(step):
            outcome = decision.outcome
            if isinstance(outcome, GoTo):
                yield from _route_options(outcome.movement.options)
            elif isinstance(outcome, GoToMany):
                for movement in outcome.movements:
                    yield from _route_options(movement.options)


def _route_options(options: Options | None) -> Iterator[Options]:
    """Options, and those of the failure route inside them."""
    while options is not None:
        yield options
        options = options.on_failure.options if options.on_failure is not None else None
