"""A run as JSON, as `describe -o json` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec import to_builtins

from orchestrator.core.configuring import effective_config
from orchestrator.core.pauses import NO_PAUSES, Pauses
from orchestrator.core.state import (
    TIMEOUT_ID,
    TIMEOUT_STEP,
    Execution,
    PendingCondition,
    Phase,
    Run,
    Status,
    Wait,
)
from orchestrator.definition.model import Flow, Json


def describe_run(
    flow: Flow,
    run: Run,
    leased: Mapping[str, object],
    now: datetime,
    *,
    with_messages: bool = False,
    pauses: Pauses = NO_PAUSES,
) -> dict[str, Json]:
    """`leased`: ids of the executions that a worker has."""
    return {
        "flow_id": run.flow_id,
        "run_id": run.run_id,
        "run_attempt": run.attempt,
        "flow": flow.name,
        "definition": flow.hash,
        "status": str(run.status),
        "paused": run.status is Status.RUNNING and pauses.covers_flow(flow.name),
        "started_at": time_text(run.started_at),
        "closed_at": time_text(run.closed_at),
        "outputs": [to_builtins(output) for output in run.outputs] if run.status == "COMPLETED" else [],
        "error": _error(run),
        "active": [
            _active(execution, execution.id in leased, now, pauses.covers(flow.name, execution.step))
            for execution in run.executions.values()
            if not _is_deadline(execution)
        ],
        "config": effective_config(flow, run),
        "deadline_at": _deadline(run),
        "attributes": {**run.attributes, **{k: dict(v) for k, v in run.attribute_maps.items() if v}},
        "channels": _channels(flow, run, with_messages),
        "joins": _joins(run),
    }


def _is_deadline(execution: Execution) -> bool:
    """Stands for the run's deadline, until that comes and it becomes the timeout handler."""
    return execution.step == TIMEOUT_STEP and execution.phase is Phase.WAITING


def _deadline(run: Run) -> str | None:
    execution = run.executions.get(TIMEOUT_ID)
    return time_text(execution.due_at) if execution is not None and _is_deadline(execution) else None


def time_text(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at is not None else None


def _error(run: Run) -> Json:
    if run.error is None:
        return None
    error: dict[str, Json] = {"step_execution_id": None, **to_builtins(run.error)}
    return {"type": error.pop("type"), "message": error.pop("message"), **error}


def _active(execution: Execution, is_leased: bool, now: datetime, is_paused: bool) -> dict[str, Json]:
    failure = execution.last_failure
    return {
        "step": execution.step,
        "step_execution_id": execution.id,
        "phase": phase_of(execution, is_leased, now),
        "paused": is_paused and not is_leased,
        "attempt": execution.attempt,
        "from": execution.origin,
        "input": execution.input,
        "due_at": time_text(execution.due_at) if execution.phase is not Phase.WAITING else None,
        "wait": _wait(execution.wait) if execution.wait and execution.phase is Phase.WAITING else None,
        "last_failure": {"type": failure.type, "message": failure.message} if failure else None,
    }


def phase_of(execution: Execution, is_leased: bool, now: datetime) -> str:
    if execution.phase is Phase.WAITING:
        return "waiting"
    if is_leased:
        return "running"
    is_later = execution.due_at is not None and execution.due_at > now
    return "backing_off" if execution.attempt > 1 and is_later else "queued"


def _wait(wait: Wait) -> dict[str, Json]:
    conditions = [_condition(condition) for condition in wait.conditions if not condition.is_left_out]
    described: dict[str, Json] = {wait.combinator: conditions}
    if wait.combinator == "any_combination_of":
        described["groups"] = [[wait.conditions[index].id for index in group] for group in wait.groups]
    return described


def _condition(condition: PendingCondition) -> dict[str, Json]:
    described: dict[str, Json] = {"id": condition.id, "kind": condition.kind}
    if condition.kind == "timer":
        described["fires_at"] = time_text(condition.fires_at)
        if condition.has_fired:
            described["has_fired"] = True
        return described
    if condition.kind == "join":
        described["round"], described["need"] = condition.round, condition.need
        return described
    if condition.child is not None:
        described["subflow"], described["status"] = condition.child.flow_id, condition.child.status
        return described
    described["channel"] = condition.channel
    if condition.key is not None:
        described["key"] = condition.key
    if condition.minimum == condition.maximum:
        described["for"] = condition.minimum
    else:
        described["at_least"] = condition.minimum
        described["at_most"] = condition.maximum
    return described


def _joins(run: Run) -> dict[str, Json]:
    """Open rounds by join."""
    joins: dict[str, list[Json]] = {}
    for name, round in run.rounds.items():
        described = {
            "round": name,
            "branches": round.branch_count,
            "counting": round.counting,
            "reports": len(round.reports),
        }
        joins.setdefault(round.join, []).append(described)
    return joins


def _channels(flow: Flow, run: Run, with_messages: bool) -> dict[str, Json]:
    channels: dict[str, Json] = {}
    for name, channel in flow.channels.items():
        queues = {key: queue for (of, key), queue in run.queues.items() if of == name}
        described: dict[str, Json] = {"size": sum(len(queue) for queue in queues.values())}
        if channel.is_map:
            described["keys"] = {key: len(queues[key]) for key in sorted(queues, key=str)}
            if with_messages:
                described["messages"] = {
                    key: [message.value for message in queues[key]] for key in sorted(queues, key=str)
                }
        elif with_messages:
            described["messages"] = [message.value for message in queues.get(None, ())]
        channels[name] = described
    return channels
