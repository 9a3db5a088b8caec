"""Explaining a run as a store holds it, together with the runs that it waits for."""

from __future__ import annotations

from datetime import datetime

from orchestrator.core.state import Phase, Run, Status
from orchestrator.engine.definitions import Definitions
from orchestrator.engine.explain.explaining import explain_run
from orchestrator.engine.explain.explanation import Explanation
from orchestrator.engine.explain.queued import read_lines
from orchestrator.store.contract import Head, Reading


def explain_stored(
    reading: Reading,
    definitions: Definitions,
    head: Head,
    now: datetime,
    within: frozenset[str] = frozenset(),
) -> Explanation:
    """`within`: flow ids of the runs that wait for this one."""
    stored = reading.load(head)
    flow = definitions.of(head.definition, reading)
    within |= {head.flow_id}
    children: dict[str, Explanation] = {}
    for flow_id in _awaited(stored.run) - within:
        child = reading.find_latest(flow_id)
        if child is not None:
            children[flow_id] = explain_stored(reading, definitions, child, now, within)
    return explain_run(
        flow,
        stored.run,
        stored.leases,
        now,
        children=children,
        closing_event=_closing_event(reading, head),
        pauses=reading.find_pauses(),
        lines=read_lines(reading, now),
    )


def _awaited(run: Run) -> set[str]:
    """Flow ids of the running children."""
    return {
        condition.child.flow_id
        for execution in run.executions.values()
        if execution.phase is Phase.WAITING and execution.wait is not None
        for condition in execution.wait.conditions
        if condition.child is not None
        and not condition.is_left_out
        and condition.child.status == Status.RUNNING
    }


def _closing_event(reading: Reading, head: Head) -> str | None:
    if head.status == Status.RUNNING:
        return None
    rows = reading.history(head.run, head.version - 1)
    return rows[-1].kind if rows else None
