"""One call of a handler that this process has leased, from hand-out to result."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    Heartbeaten,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.failing import MethodFails
from orchestrator.core.snapshot import Snapshot, take_snapshot
from orchestrator.core.state import Execution, Phase, Run
from orchestrator.core.tasks import method_options
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.pulse import Pulse

log = logging.getLogger("orchestrator.engine")


class Task(Struct, eq=False, gc=False):
    """`end` decides who reports: the handler that finished or the timeout that gave it up, never both."""

    run: int
    step: str
    execution_id: str
    attempt: int
    is_wait_for: bool
    bound: BoundHandler
    worker: int
    is_elsewhere: bool = False
    """Not called in a handler thread, but in a process or in the event loop."""
    is_lost: bool = False
    is_cancelled: bool = False
    flow: str = ""
    run_attempt: int = 1
    """A time travel makes the tasks of earlier attempts void."""
    timeout: float = 0.0
    """Seconds."""
    heartbeat: float | None = None
    """Seconds without a sign of life after which the attempt fails."""
    pulse: Pulse | None = None
    snapshot: Snapshot | None = None
    failure: Failure | None = None
    """Why the handler cannot be called at all."""
    handed_out_at: datetime | None = None
    _end: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_in_process(self) -> bool:
        return self.bound.runs_in_process

    def prepare(self, flow: Flow, run: Run, execution: Execution, now: datetime) -> None:
        """Take what the handler will see; an expression that fails there fails the attempt."""
        self.flow = flow.name
        self.handed_out_at = now
        self.run_attempt = run.attempt
        is_plain = execution.options_path is None
        options = self.bound.method.handler if is_plain else method_options(flow, execution)
        self.timeout = options.timeout.total_seconds()
        if options.heartbeat is not None:
            self.heartbeat = options.heartbeat.total_seconds()
        try:
            has_viewer = self.bound.takes_context
            self.snapshot = take_snapshot(flow, run, execution, now, options, has_viewer=has_viewer)
        except MethodFails as fails:
            self.failure = fails.failure
        except Exception as error:
            log.exception("run %s: no snapshot of %s", run.flow_id, execution.id)
            self.failure = internal_failure(error)

    def is_for(self, run: Run, execution: Execution) -> bool:
        """Still the task of this execution, whatever has been noted of it meanwhile."""
        if execution.phase is Phase.WAITING or self.is_wait_for != (execution.phase is Phase.WAIT_FOR):
            return False
        return self.attempt == execution.attempt and self.run_attempt == run.attempt

    @property
    def handler(self) -> str:
        return self.bound.method.handler.name

    def begin(self, now: float) -> float:
        """The handler is called; seconds after which it has to be looked at."""
        if self.heartbeat is None:
            return self.timeout
        self.pulse = Pulse(now, self.heartbeat)
        return min(self.timeout, self.heartbeat)

    def overdue(self, started_at: float, now: float) -> tuple[float, Failure]:
        """Seconds left, and what the attempt fails with when there are none."""
        left, heartbeat = started_at + self.timeout - now, self.heartbeat
        if heartbeat is not None and self.pulse is not None:
            silent_left = self.pulse.beaten_at + heartbeat - now
            if silent_left < left:
                return silent_left, _silent(heartbeat)
        return left, timed_out(self.timeout)

    def end(self) -> bool:
        """True for the first caller."""
        return self._end.acquire(blocking=False)

    def has_been_cancelled(self) -> bool:
        return self.is_cancelled


def task_of_call(number: int, execution: Execution, bound: BoundHandler, worker: int) -> Task:
    """The call of a handler that `execution` of this run is to be given to; see `Task.prepare`."""
    return Task(
        number,
        execution.step,
        execution.id,
        execution.attempt,
        execution.phase is Phase.WAIT_FOR,
        bound,
        worker,
        bound.is_elsewhere,
    )


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


def heartbeaten(task: Task, value: Json, at: datetime) -> Event:
    return Heartbeaten(at=at, execution_id=task.execution_id, attempt=task.attempt, value=value)


def apart(tasks: Iterable[Task]) -> tuple[list[Task], list[Task]]:
    """What is called elsewhere, and what is called in handler threads."""
    elsewhere: list[Task] = []
    here: list[Task] = []
    for task in tasks:
        (elsewhere if task.is_elsewhere else here).append(task)
    return elsewhere, here


def timed_out(seconds: float) -> Failure:
    return Failure(
        type="Timeout", message=f"not finished within {seconds:g} s", bases=("Timeout", "TimeoutError")
    )


def _silent(seconds: float) -> Failure:
    bases = ("HeartbeatTimeout", "Timeout", "TimeoutError")
    return Failure(type=bases[0], message=f"no heartbeat within {seconds:g} s", bases=bases)


def internal_failure(error: BaseException) -> Failure:
    """A mistake of ours, not of the flow."""
    return Failure(type="InternalError", message=f"{type(error).__name__}: {error}", is_retryable=False)
