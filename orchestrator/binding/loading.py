"""Map entries and messages that a handler reads, against what `loads` brings it (rule 102)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.binding.method import Method
from orchestrator.binding.source.deeds import Act
from orchestrator.binding.verdict import Verdict
from orchestrator.definition.model import Flow, Load, Options, Route, Rpc, Step
from orchestrator.graph.query import movements_of, with_otherwise

NOT_LOADED = "DAT012"


def judge_reading(method: Method, act: Act, name: str) -> Verdict | None:
    """None also for names that are not declared, which have a problem of their own."""
    flow = method.flow
    if act is Act.READ_MESSAGES:
        if name not in flow.channels or any(load.channel == name for load in _loads(method)):
            return None
        return Verdict(
            NOT_LOADED,
            f"reads messages of `{name}`, which `loads` does not ask for",
            _advice(f"channel: {name}"),
        )
    attribute = flow.attributes.get(name)
    if attribute is None or not attribute.is_map or any(load.attribute == name for load in _loads(method)):
        return None
    help = f"declare `loads: [{name}]` beside the handler, or only one entry: `loads: [{{{name}: key}}]`"
    return Verdict(NOT_LOADED, f"reads entries of `{name}`, which `loads` does not ask for", help)


def _advice(load: str) -> str:
    return f"declare `loads: [{{{load}}}]` beside the handler"


def _loads(method: Method) -> Iterator[Load]:
    """Its own, and those that a movement or route gives it instead."""
    yield from method.handler.loads
    for options in _options_for(method.flow, method.name):
        override = options.wait_for if method.is_wait_for else options.execute
        yield from (override.loads or ()) if override is not None else ()


def _options_for(flow: Flow, step: str) -> Iterator[Options]:
    owners: list[Step | Rpc] = [*flow.steps.values(), *flow.rpcs.values()]
    owners += [flow.on_timeout] if flow.on_timeout is not None else []
    for owner in owners:
        if isinstance(owner, Step):
            yield from _of_route(owner.on_failure, step)
        for _, decision, _ in with_otherwise(owner.decisions):
            for movement in movements_of(decision):
                yield from _of(movement.step, movement.options, step)


def _of_route(route: Route | None, step: str) -> Iterator[Options]:
    if route is not None:
        yield from _of(route.step, route.options, step)


def _of(target: str, options: Options | None, step: str) -> Iterator[Options]:
    """With those of the failure route that the options bring."""
    if options is None:
        return
    if target == step:
        yield options
    yield from _of_route(options.on_failure, step)
