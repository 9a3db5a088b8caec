"""What an element of a flow reads, writes and leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from orchestrator.definition.model import (
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoTo,
    GoToMany,
    Movement,
    Rpc,
    Step,
)
from orchestrator.definition.values import Value


def iterate_values(element: Any) -> Iterator[Value]:
    """All values and expressions inside a part of the model."""
    found: list[Value] = []
    _collect(element, found)
    return iter(found)


def _collect(element: Any, found: list[Value]) -> None:
    if isinstance(element, Value):
        found.append(element)
    elif isinstance(element, tuple):
        for item in element:
            _collect(item, found)
    else:
        for name in _parts_of(type(element)):
            part = getattr(element, name)
            if part is not None:
                _collect(part, found)


_PARTS: dict[type[Any], tuple[str, ...]] = {}
"""The fields of a class of the model in which values may stand; asked for every part of every flow."""


def _parts_of(kind: type[Any]) -> tuple[str, ...]:
    if kind not in _PARTS:
        names = [each.name for each in fields(kind)] if is_dataclass(kind) else []
        _PARTS[kind] = tuple(name for name in names if name not in ("path", "type", "input_type"))
    return _PARTS[kind]


def read_paths(element: Any) -> frozenset[tuple[str, ...]]:
    """Static paths that the expressions of a part of the model read."""
    return frozenset(path for value in iterate_values(element) for path in value.reads)


def read_names(element: Any, kind: str) -> list[str]:
    """Names directly below `attributes`, `channels`, … that a part of the model reads, sorted."""
    return sorted({path[1] for path in read_paths(element) if len(path) > 1 and path[0] == kind})


def reads_messages_of(paths: frozenset[tuple[str, ...]], condition_id: str) -> bool:
    """True when one of `paths` reads what the condition took: messages, reports, outputs."""
    contents = {"messages", "message", "by_branch", "output", "outputs"}
    for path in paths:
        if path[:1] != ("wait",) or (len(path) > 1 and path[1] != condition_id):
            continue
        if len(path) < 3 or path[2] in contents:
            return True
    return False


def elements_of(flow: Flow) -> Iterator[Step | Rpc]:
    """Everything that takes decisions: steps, RPCs, the timeout handler."""
    yield from flow.steps.values()
    yield from flow.rpcs.values()
    if flow.on_timeout is not None:
        yield flow.on_timeout


def with_otherwise(decisions: Sequence[Decision]) -> Iterator[tuple[str, Decision, Decision | None]]:
    """Each decision and each `otherwise` inside: `("2", decision, None)`, `("2/otherwise", inner, outer)`."""
    for number, decision in enumerate(decisions, start=1):
        name, parent = str(number), None
        current: Decision | None = decision
        while current is not None:
            yield name, current, parent
            name, parent, current = f"{name}/otherwise", current, otherwise_of(current)


def otherwise_of(decision: Decision) -> Decision | None:
    outcome = decision.outcome
    return outcome.otherwise if isinstance(outcome, GoToMany | ForceCompleteIfChannelsEmpty) else None


def movements_of(decision: Decision) -> tuple[Movement, ...]:
    """The movements of the decision itself, those of an `otherwise` not counted."""
    match decision.outcome:
        case GoTo(movement=movement):
            return (movement,)
        case GoToMany(movements=movements):
            return movements
        case _:
            return ()


def next_steps(element: Step | Rpc) -> list[str]:
    """Targets of movements and of the failure route, in the order written, each once."""
    targets = [
        movement.step
        for _, decision, _ in with_otherwise(element.decisions)
        for movement in movements_of(decision)
    ]
    if isinstance(element, Step) and element.on_failure is not None:
        targets.append(element.on_failure.step)
    return list(dict.fromkeys(targets))


def steps_in_reading_order(flow: Flow) -> list[str]:
    """Depth first from the start step, then from RPCs and the timeout handler, then whatever is left."""
    seen: dict[str, None] = {}
    roots = [flow.start] if flow.start is not None else []
    for rpc in flow.rpcs.values():
        roots += next_steps(rpc)
    if flow.on_timeout is not None:
        roots += next_steps(flow.on_timeout)
    stack = [*reversed([*roots, *flow.steps])]
    while stack:
        name = stack.pop()
        if name in seen or name not in flow.steps:
            continue
        seen[name] = None
        stack += reversed(next_steps(flow.steps[name]))
    return list(seen)
