"""Play a flow against the pure core: no store, no handlers, a clock that the test moves."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from orchestrator.core import codec
from orchestrator.core.changes import Change
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    HandlerEffects,
    HandlerWait,
    LocksRequested,
    Message,
    MessagesPublished,
    RpcCalled,
    RunStarted,
    StopRequested,
    TimerDue,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.invariants import check
from orchestrator.core.rpcs import answer_of
from orchestrator.core.state import Execution, Phase, Run
from orchestrator.core.tasks import TaskKind, task_of
from orchestrator.core.transition import decide, evolve
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse

START = datetime(2030, 1, 1, tzinfo=UTC)


def flow_of(text: str) -> Flow:
    """The definition in `text`; problems fail the test."""
    flow, problems = parse(textwrap.dedent(text), "test.flow.yaml")
    errors = [problem.concise() for problem in problems]
    assert flow is not None, "\n".join(errors)
    assert not errors, "\n".join(errors)
    return flow


class Play:
    """One run. Every commit is checked against the invariants and against replay of its history."""

    def __init__(self, text: str | Flow, input: Any = None, **started: Any) -> None:
        self.flow = text if isinstance(text, Flow) else flow_of(text)
        self.now = START
        self.run = Run()
        self.history: list[bytes] = []
        self.send(
            RunStarted(
                at=self.now, flow_id="f", run_id="r", input=input, has_input=input is not None, **started
            )
        )

    def send(self, event: Event) -> list[Change]:
        changes = decide(self.flow, self.run, event)
        if changes:
            self.history.append(codec.encode(changes))
            evolve(self.run, changes)
            check(self.run)
        return changes

    def advance(self, seconds: float) -> None:
        """Time passes; nothing happens by itself."""
        self.now += timedelta(seconds=seconds)

    def settle(self) -> None:
        """Do all that needs no handler and is due: accept waits, fire timers, decide."""
        while self.settle_once():
            pass

    def settle_once(self) -> bool:
        """One round of it; False: there was nothing to do."""
        done = [self._do(execution) for execution in list(self.run.executions.values())]
        return any(done)

    def _do(self, execution: Execution) -> bool:
        if execution.due_at is None or execution.due_at > self.now:
            return False
        at, id, attempt = self.now, execution.id, execution.attempt
        event: Event
        match task_of(self.flow, execution):
            case TaskKind.EVALUATE_WAIT:
                event = WaitForSucceeded(at=at, execution_id=id, attempt=attempt)
            case TaskKind.FIRE_TIMER:
                event = TimerDue(at=at, execution_id=id)
            case TaskKind.DECIDE:
                event = ExecuteSucceeded(at=at, execution_id=id, attempt=attempt)
            case TaskKind.TAKE_LOCKS:
                event = LocksRequested(at=at, execution_id=id, attempt=attempt)
            case _:
                return False
        return bool(self.send(event))

    # --- What handlers and clients do ---

    def succeed(self, id: str, result: Any = None, choice: str | None = None, **effects: Any) -> list[Change]:
        """The Execute handler of `id` returns; then everything that needs no handler is done."""
        changes = self.send(
            ExecuteSucceeded(
                at=self.now,
                execution_id=id,
                attempt=self.run.executions[id].attempt,
                result=result,
                choice=choice,
                effects=HandlerEffects(**effects),
            )
        )
        self.settle()
        return changes

    def fail(self, id: str, type: str = "ValueError", message: str = "boom", **failure: Any) -> None:
        """The current method of `id` raises."""
        execution = self.run.executions[id]
        kind = ExecuteFailed if execution.phase is Phase.EXECUTE else WaitForFailed
        reason = Failure(type=type, message=message, bases=(type, "Exception"), **failure)
        self.send(kind(at=self.now, execution_id=id, attempt=execution.attempt, failure=reason))
        self.settle()

    def wait(self, id: str, combinator: str, *groups: tuple[str, ...], **effects: Any) -> None:
        """The wait_for handler of `id` returns a wait."""
        self.send(
            WaitForSucceeded(
                at=self.now,
                execution_id=id,
                attempt=self.run.executions[id].attempt,
                wait=HandlerWait(combinator, groups),
                effects=HandlerEffects(**effects),
            )
        )
        self.settle()

    def publish(self, channel: str, *values: Any, key: str | None = None) -> None:
        """A client publishes, all in one commit."""
        messages = tuple(Message(channel, value, key) for value in values)
        self.send(MessagesPublished(at=self.now, messages=messages))
        self.settle()

    def stop(self, stop: str = "cancel", reason: str | None = None) -> None:
        self.send(StopRequested(at=self.now, stop=stop, reason=reason))

    # --- What a test looks at ---

    @property
    def active(self) -> list[str]:
        return sorted(self.run.executions)

    def phase(self, id: str) -> str:
        return str(self.run.executions[id].phase)

    def unread(self, channel: str, key: str | None = None) -> list[Any]:
        return [message.value for message in self.run.queues.get((channel, key), ())]

    @property
    def outputs(self) -> list[Any]:
        return [output.output for output in self.run.outputs]

    @property
    def attributes(self) -> Mapping[str, Any]:
        return self.run.attributes

    def replayed(self) -> Run:
        """The run as its history alone gives it."""
        run = Run()
        for body in self.history:
            evolve(run, codec.decode(body))
        return run

    def rpc(self, name: str, *input: Any, request_id: str | None = None, **called: Any) -> Any:
        """Call an RPC and give its output."""
        event = RpcCalled(
            at=self.now,
            name=name,
            input=input[0] if input else None,
            has_input=bool(input),
            request_id=request_id,
            **called,
        )
        changes = self.send(event)
        self.settle()
        return answer_of(self.run, changes, request_id)
