"""Play an example flow with its real handlers on the pure core: no store, a virtual clock."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from orchestrator.binding.context import NO_SERVICES
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.binding.registry import Bindings
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.failing import MethodFails
from orchestrator.core.snapshot import take_snapshot
from orchestrator.core.state import Execution, Status
from orchestrator.core.tasks import TaskKind, task_of
from orchestrator.definition.catalogue import load
from tests.support.play import Play

ROOT = Path(__file__).parents[2]
_CALLS_LIMIT = 1_000


class Stage(Play):
    """A run of `flows/<name>.flow.yaml` on the input beside it, or on another one."""

    def __init__(self, name: str, input: Any = None) -> None:
        flow = load(ROOT / "flows" / f"{name}.flow.yaml")
        self.bindings = Bindings(flow, [ROOT])
        assert self.bindings.problems() == []
        super().__init__(flow, example_input(name) if input is None else input)
        self.settle()

    def perform(self, seconds: float = 0.0) -> None:
        """Do all that is due, then let time pass up to `seconds`, due by due; 0 is no time at all."""
        end = self.now + timedelta(seconds=seconds)
        for _ in range(_CALLS_LIMIT):
            if self._call_handlers():
                continue
            due = [execution.due_at for execution in self.run.executions.values() if execution.due_at]
            if not due or min(due) > end:
                self.now = end
                return
            self.now = max(self.now, min(due))
        raise AssertionError(f"still busy after {_CALLS_LIMIT} rounds")

    def perform_to_the_end(self) -> None:
        """Until nothing is left on a timer."""
        self.perform(seconds=100 * 24 * 3600)
        assert self.run.status is not Status.RUNNING, f"still active: {self.active}"

    def _call_handlers(self) -> bool:
        self.settle()
        due = [
            execution
            for execution in self.run.executions.values()
            if execution.due_at is not None and execution.due_at <= self.now
        ]
        for execution in due:
            if self.run.executions.get(execution.id) is execution:
                self._call(execution)
        return bool(due)

    def _call(self, execution: Execution) -> None:
        is_wait_for = task_of(self.flow, execution) is TaskKind.CALL_WAIT_FOR
        bound = (self.bindings.wait_for if is_wait_for else self.bindings.execute)(execution.step)
        id, attempt = execution.id, execution.attempt
        try:
            returned = self._invoke(bound, execution)
        except Exception as error:
            kind = WaitForFailed if is_wait_for else ExecuteFailed
            self.send(kind(at=self.now, execution_id=id, attempt=attempt, failure=failure_of(error)))
            return
        at, effects = self.now, returned.effects
        event: Event
        if is_wait_for:
            event = WaitForSucceeded(
                at=at, execution_id=id, attempt=attempt, wait=returned.wait, effects=effects
            )
        else:
            result, choice = returned.result, returned.choice
            event = ExecuteSucceeded(
                at=at, execution_id=id, attempt=attempt, result=result, choice=choice, effects=effects
            )
        self.send(event)

    def _invoke(self, bound: BoundHandler, execution: Execution) -> Returned:
        try:
            snapshot = take_snapshot(self.flow, self.run, execution, self.now)
        except MethodFails as fails:
            raise AssertionError(fails.failure.message) from fails
        return bound.invoke(snapshot, NO_SERVICES)


def example_input(name: str) -> Any:
    return json.loads((ROOT / "flows" / f"{name}.input.json").read_text())
