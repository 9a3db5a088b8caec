"""The latest run of a flow id, as the store has it."""

from __future__ import annotations

from orchestrator.definition.model import Json
from orchestrator.engine.arguments import text
from orchestrator.engine.describe import describe_run
from orchestrator.engine.engine import Engine
from orchestrator.errors import NotFound
from orchestrator.store.contract import Head, Reading


def demand_latest(reading: Reading, flow_id: str) -> Head:
    """Raises NotFound."""
    head = reading.find_latest(text(flow_id, "flow_id"))
    if head is None:
        raise NotFound(f"there is no run {flow_id}", flow_id=flow_id)
    return head


def describe_latest(engine: Engine, flow_id: str, *, with_messages: bool = False) -> dict[str, Json]:
    """Raises NotFound."""
    with engine.store.reading() as reading:
        head = demand_latest(reading, flow_id)
        stored = reading.load(head)
        flow = engine.definitions.of(head.definition, reading)
        pauses = reading.find_pauses()
    now = engine.clock.now()
    return describe_run(flow, stored.run, stored.leases, now, with_messages=with_messages, pauses=pauses)
