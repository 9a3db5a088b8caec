"""Whether anything can still move a run, and from where."""

from __future__ import annotations

from enum import StrEnum

from orchestrator.core.state import Execution, PendingCondition, Phase, Run, Status
from orchestrator.definition.model import Flow


class Mover(StrEnum):
    """What a run goes on by."""

    ENGINE = "engine"
    """Something is ready, in flight, backing off, or on a timer."""
    CLIENT = "client"
    """Only a message from outside."""
    NOBODY = "nobody"


def find_mover(flow: Flow, run: Run) -> Mover:
    if run.status is not Status.RUNNING or any(e.due_at is not None for e in run.executions.values()):
        return Mover.ENGINE
    if any(_can_be_satisfied_by_clients(flow, run, each) for each in run.executions.values()):
        return Mover.CLIENT
    return Mover.NOBODY


def explain(flow: Flow, run: Run) -> str:
    """Why the run stands still, one clause for each active step."""
    if not run.executions:
        return "no step is active"
    return "; ".join(_explain_execution(flow, run, each) for each in run.executions.values())


def _can_be_satisfied_by_clients(flow: Flow, run: Run, execution: Execution) -> bool:
    wait = execution.wait
    if execution.phase is not Phase.WAITING or wait is None:
        return False
    return any(
        all(_is_open_to_clients(flow, run, wait.conditions[index]) for index in group)
        for group in wait.groups
    )


def _is_open_to_clients(flow: Flow, run: Run, condition: PendingCondition) -> bool:
    """It holds, or messages from outside can make it hold."""
    if condition.channel is None:
        return condition.has_fired
    unread = len(run.queues.get((condition.channel, condition.key), ()))
    return unread >= condition.minimum or flow.channels[condition.channel].is_external


def _explain_execution(flow: Flow, run: Run, execution: Execution) -> str:
    if execution.wait is None:
        return f"{execution.id} is {execution.phase}"
    channels = []
    for condition in execution.wait.conditions:
        if condition.is_left_out:
            continue
        if condition.round is not None:
            channels.append(f"reports of {condition.round}")
        if condition.channel is None:
            continue
        unread = len(run.queues.get((condition.channel, condition.key), ()))
        name = condition.channel if condition.key is None else f"{condition.channel}[{condition.key}]"
        outside = "clients may publish there" if flow.channels[condition.channel].is_external else "internal"
        channels.append(f"{condition.minimum} of {name} (holds {unread}, {outside})")
    return f"{execution.id} waits for {' and '.join(channels) or 'nothing that can happen'}"
