"""Call handlers as the engine does, on a snapshot made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from orchestrator.binding.check import bind
from orchestrator.binding.context import NO_SERVICES, Services
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.binding.method import Method, MethodKind
from orchestrator.core.snapshot import Snapshot
from orchestrator.core.state import Execution
from orchestrator.definition.model import Attribute, Channel, Delivery, Flow, Handler, May, MayRange, Step
from orchestrator.definition.types import ANY, Type, parse_type

START = datetime(2030, 1, 1, tzinfo=UTC)


def type_of(text: Any) -> Type:
    return parse_type(text, {})


FLOW = Flow(
    name="OrderFlow",
    attributes={
        "status": Attribute(name="status", type=type_of("string")),
        "notes": Attribute(name="notes", type=type_of("list of string")),
        "progress": Attribute(name="progress", type=type_of("string"), is_map=True),
    },
    channels={
        "token": Channel(name="token", type=type_of("string")),
        "latest": Channel(name="latest", type=type_of("integer"), delivery=Delivery.LATEST),
        "tasks": Channel(name="tasks", type=type_of("any"), is_map=True),
    },
    steps={name: Step(name=name) for name in ("Charge", "Ship", "Refund")},
)
ANYTHING = May(
    publish={name: MayRange() for name in FLOW.channels},
    set={name: MayRange() for name in FLOW.attributes},
    cancel={name: MayRange() for name in FLOW.steps},
)


def snapshot(**changes: Any) -> Snapshot:
    """The first attempt of `Charge-2`, with whatever the test says otherwise."""
    execution: dict[str, Any] = {"step": "Charge", "number": 2, "origin": "__start__"}
    fields: dict[str, Any] = {
        "flow": FLOW,
        "flow_id": "order-7",
        "run_id": "run-1",
        "run_attempt": 1,
        "started_at": START,
        "now": START,
    }
    for name, value in changes.items():
        (fields if name in Snapshot.__struct_fields__ else execution)[name] = value
    return Snapshot(execution=Execution(**execution), **fields)


def bound(
    function: Callable[..., Any],
    *,
    kind: MethodKind = MethodKind.EXECUTE,
    may: May | None = ANYTHING,
    input: Type | None = ANY,
    choices: Iterable[str] = (),
    conditions: Iterable[str] = (),
) -> BoundHandler:
    handler = Handler(name=getattr(function, "__name__", "handler"), may=may)
    return bind(Method(FLOW, kind, "Charge", handler, input, frozenset(choices), tuple(conditions)), function)


def call(
    function: Callable[..., Any],
    input: Any = None,
    *,
    services: Services = NO_SERVICES,
    given: Mapping[str, Any] | None = None,
    **binding: Any,
) -> Returned:
    """Bind and invoke once; `given` are the fields of the snapshot that differ."""
    handler = bound(function, **binding)
    frame = snapshot(input=input, **(given or {}))
    if handler.is_async:
        return asyncio.run(handler.async_invoke(frame, services))
    return handler.invoke(frame, services)
