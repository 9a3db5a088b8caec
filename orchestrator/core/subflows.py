"""Subflows (rules 173-180): what a run asks of other runs, and what it learns from them.

A run never touches another one. Its changes say what it asks (ChildRequested, ChildAbandoned, RunClosed with
watchers); whoever commits them delivers the matching event to the other run in the same transaction.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from orchestrator.core import changes as c
from orchestrator.core.draft import Draft
from orchestrator.core.events import RunStarted, SubflowClosed, SubflowRefused, Watcher
from orchestrator.core.state import Execution, Phase, Run, Status


class Reuse(StrEnum):
    """What becomes of a child request whose flow id has a run (rules 176-178)."""

    START = "start"
    ATTACH = "attach"
    """Watch the running one."""
    USE_RESULT = "use_result"
    """Report the closed one."""
    TERMINATE_AND_START = "terminate_and_start"


def resolve_reuse(request: c.ChildRequested, latest: Run | None) -> Reuse:
    """`latest`: the latest run under the child's flow id."""
    if latest is None:
        return Reuse.START
    is_running = latest.status is Status.RUNNING
    if latest.request_id == request.request_id or request.reuse == "attach":
        return Reuse.ATTACH if is_running else Reuse.USE_RESULT
    if request.reuse == "always_restart":
        return Reuse.TERMINATE_AND_START if is_running else Reuse.START
    if is_running:
        return Reuse.ATTACH
    return Reuse.USE_RESULT if latest.status is Status.COMPLETED else Reuse.START


def start_of_child(parent: Run, request: c.ChildRequested, run_id: str, at: datetime) -> RunStarted:
    """The start of a new child that the parent watches."""
    return RunStarted(
        at=at,
        flow_id=request.flow_id,
        run_id=run_id,
        input=request.input,
        has_input=request.has_input,
        request_id=request.request_id,
        timeout=request.timeout,
        config=request.config,
        watcher=watcher_of(parent, request),
    )


def watcher_of(parent: Run, request: c.ChildRequested) -> Watcher:
    return Watcher(parent.flow_id, parent.run_id, request.execution_id, request.condition)


def closed_event(child: Run, watcher: Watcher) -> SubflowClosed:
    """What the watcher learns of a closed child."""
    assert child.closed_at is not None
    return SubflowClosed(
        at=child.closed_at,
        execution_id=watcher.execution_id,
        condition=watcher.condition,
        flow_id=child.flow_id,
        status=child.status.value,
        outputs=tuple(output.output for output in child.outputs),
        error=None if child.error is None else {"type": child.error.type, "message": child.error.message},
    )


# --- The parent's side --------------------------------------------------------------------------------------


def report_child(draft: Draft, event: SubflowClosed) -> None:
    execution = _awaited(draft, event.execution_id, event.condition, event.flow_id)
    if execution is not None:
        draft.report_child(execution, event.condition, event.status, event.outputs, event.error)


def refused_wait(draft: Draft, event: SubflowRefused) -> Execution | None:
    """The execution whose wait fails because its child cannot be started; None: it waits no more."""
    return _awaited(draft, event.execution_id, event.condition, event.flow_id)


def _awaited(draft: Draft, execution_id: str, condition: int, flow_id: str) -> Execution | None:
    execution = draft.execution(execution_id)
    if execution is None or execution.phase is not Phase.WAITING or execution.wait is None:
        return None
    conditions = execution.wait.conditions
    child = conditions[condition].child if condition < len(conditions) else None
    if child is None or child.flow_id != flow_id or child.status != Status.RUNNING:
        return None
    return execution
