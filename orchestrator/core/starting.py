"""Start runs and step executions."""

from __future__ import annotations

from datetime import datetime

from orchestrator.core import changes as c
from orchestrator.core.configuring import configure
from orchestrator.core.deadlines import arm_deadline, check_span
from orchestrator.core.draft import Draft
from orchestrator.core.events import RunStarted
from orchestrator.core.state import BranchRef, Execution, Phase, RecoveredFailure
from orchestrator.core.writing import demand_keys
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.errors import InvalidValue, NotFound

START = "__start__"
RESERVED = "/$:\0"


def start_step(
    draft: Draft,
    step_name: str,
    input: Json,
    *,
    origin: str,
    options_path: Path | None = None,
    failure: RecoveredFailure | None = None,
    due_at: datetime | None = None,
    line: tuple[BranchRef, ...] = (),
    faces: dict[str, str] | None = None,
) -> Execution:
    """Queue a new execution; its wait is accepted, or its Execute begun, in a later commit."""
    step = draft.flow.steps[step_name]
    execution = Execution(
        step=step_name,
        number=draft.next_number(step_name),
        origin=origin,
        phase=Phase.WAIT_FOR if step.wait_for is not None else Phase.EXECUTE,
        due_at=due_at or draft.at,
        input=input,
        failure=failure,
        line=line,
        faces=faces or {},
        options_path=options_path,
    )
    draft.queue_step(execution)
    return execution


def start_run(draft: Draft, event: RunStarted) -> None:
    """Rules 8, 11, 36, 37; raises InvalidValue or NotFound."""
    flow = draft.flow
    if event.watcher is None:  # ids of subflows are made by the engine
        check_flow_id(event.flow_id)
    value = _start_input(flow, event)
    check_span("start delay", event.delay)
    draft.changes.append(c.RunOpened(event.flow_id, event.run_id, event.at, value, event.request_id))
    if event.watcher is not None:
        draft.changes.append(c.WatcherAdded(event.watcher))
    configure(draft, event.config)
    for attribute in flow.attributes.values():
        if attribute.initial is not None and attribute.name not in event.attributes:
            draft.write(attribute.name, None, attribute.initial)
    for name, initial in event.attributes.items():
        _write_initial(draft, name, initial)
    if flow.start is not None:
        due_at = event.at + event.delay if event.delay else event.at
        takes_input = flow.steps[flow.start].input is not None
        start_step(draft, flow.start, value if takes_input else None, origin=START, due_at=due_at)
    arm_deadline(draft, event, START)


def check_flow_id(flow_id: str) -> None:
    """Rule 8."""
    if not flow_id:
        raise InvalidValue("a flow id must not be empty")
    for character in RESERVED:
        if character in flow_id:
            raise InvalidValue(
                f"flow id {flow_id!r} contains {character!r}, which is reserved", flow_id=flow_id
            )


def _start_input(flow: Flow, event: RunStarted) -> Json:
    start = flow.steps[flow.start] if flow.start is not None else None
    types = [t for t in (flow.input, start.input if start else None) if t is not None]
    if not types:
        if event.has_input:
            raise InvalidValue(f"flow {flow.name} takes no input", flow=flow.name)
        return None
    value = event.input
    for type in types:
        try:
            value = type.check(value)
        except InvalidValue as error:
            raise InvalidValue(f"input of {flow.name}: {error.message}", **error.data) from None
    return value


def _write_initial(draft: Draft, name: str, value: Json) -> None:
    """Rule 37: each must be declared; null means not set."""
    attribute = draft.flow.attributes.get(name)
    if attribute is None:
        known = ", ".join(sorted(draft.flow.attributes)) or "none"
        raise NotFound(f"flow {draft.flow.name} has no attribute {name}; it has: {known}", name=name)
    if value is None:
        return
    if attribute.is_map and isinstance(value, dict):
        demand_keys(name, value)
    try:
        if attribute.is_map:
            if not isinstance(value, dict):
                raise InvalidValue("expected a mapping of entries")
            value = {key: attribute.type.check(entry) for key, entry in value.items()}
        else:
            value = attribute.type.check(value)
    except InvalidValue as error:
        raise InvalidValue(f"attribute {name}: {error.message}", name=name) from None
    draft.write(name, None, value)
