"""One call of a handler that this process has leased, from hand-out to result."""

from __future__ import annotations

import logging
import threading
from datetime import datetime

from msgspec.structs import replace

from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.failing import MethodFails
from orchestrator.core.snapshot import Snapshot, take_snapshot
from orchestrator.core.state import Execution, Phase, Run
from orchestrator.core.tasks import method_options
from orchestrator.definition.model import Flow

log = logging.getLogger("orchestrator.engine")


class Task:
    """`end` decides who reports: the handler that finished or the timeout that gave it up, never both."""

    __slots__ = (
        "_end",
        "attempt",
        "bound",
        "execution_id",
        "failure",
        "handed_out_at",
        "is_cancelled",
        "is_lost",
        "is_wait_for",
        "run",
        "run_attempt",
        "snapshot",
        "timeout",
        "worker",
    )

    def __init__(
        self, run: int, execution: Execution, bound: BoundHandler, worker: int, *, is_lost: bool = False
    ) -> None:
        self.run = run
        self.execution_id = execution.id
        self.attempt = execution.attempt
        self.is_wait_for = execution.phase is Phase.WAIT_FOR
        self.bound = bound
        self.worker = worker
        self.is_lost = is_lost
        self.is_cancelled = False
        self.run_attempt = 1
        """A time travel makes the tasks of earlier attempts void."""
        self.timeout = 0.0
        """Seconds."""
        self.snapshot: Snapshot | None = None
        self.failure: Failure | None = None
        """Why the handler cannot be called at all."""
        self.handed_out_at: datetime | None = None
        self._end = threading.Lock()

    def prepare(self, flow: Flow, run: Run, execution: Execution, now: datetime) -> None:
        """Take what the handler will see; an expression that fails there fails the attempt."""
        self.handed_out_at = now
        self.run_attempt = run.attempt
        self.timeout = method_options(flow, execution).timeout.total_seconds()
        try:
            self.snapshot = take_snapshot(flow, run, execution, now)
        except MethodFails as fails:
            self.failure = fails.failure
        except Exception as error:
            log.exception("run %s: no snapshot of %s", run.flow_id, execution.id)
            self.failure = internal_failure(error)

    def end(self) -> bool:
        """True for the first caller."""
        return self._end.acquire(blocking=False)

    def has_been_cancelled(self) -> bool:
        return self.is_cancelled


def succeeded(task: Task, returned: Returned, at: datetime) -> Event:
    if task.is_wait_for:
        return WaitForSucceeded(
            at=at,
            execution_id=task.execution_id,
            attempt=task.attempt,
            wait=returned.wait,
            effects=returned.effects,
        )
    return ExecuteSucceeded(
        at=at,
        execution_id=task.execution_id,
        attempt=task.attempt,
        result=returned.result,
        choice=returned.choice,
        effects=returned.effects,
    )


def failed(task: Task, failure: Failure, at: datetime) -> Event:
    if task.is_lost and not failure.has_started:
        failure = replace(failure, has_started=True)  # under a worker that died it may have (rule 156)
    kind = WaitForFailed if task.is_wait_for else ExecuteFailed
    return kind(
        at=at,
        execution_id=task.execution_id,
        attempt=task.attempt,
        failure=failure,
        started_at=task.handed_out_at,
    )


def internal_failure(error: BaseException) -> Failure:
    """A mistake of ours, not of the flow."""
    return Failure(type="InternalError", message=f"{type(error).__name__}: {error}", is_retryable=False)
