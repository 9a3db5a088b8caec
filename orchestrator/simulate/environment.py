"""Runs of flows under virtual time, in memory, by the same pure core that the engine uses. Deterministic.

A handler's call sees the run at its beginning; what it did is committed when its virtual time is over.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from msgspec.structs import replace

from orchestrator.binding.context import Services
from orchestrator.binding.invoke import Returned
from orchestrator.core import changes as c
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    Heartbeaten,
    LocksRequested,
    RpcCalled,
    RunStarted,
    StopRequested,
    TimerDue,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.failing import MethodFails
from orchestrator.core.reuse import Answer, ReusePolicy, may_start, refusal
from orchestrator.core.rpcs import answer_of, check_rpc_input, find_rpc, require_callable
from orchestrator.core.snapshot import take_rpc_snapshot, take_snapshot
from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase, Run
from orchestrator.core.tasks import TaskKind, method_options, task_of
from orchestrator.core.transition import decide, evolve
from orchestrator.definition.model import Flow, Json, Rpc
from orchestrator.errors import AlreadyStarted, HandlerFailed, NotFound, Rejected
from orchestrator.simulate.agenda import Agenda, Rank
from orchestrator.simulate.calls import CallEnd, Calls
from orchestrator.simulate.children import Children
from orchestrator.simulate.client import SimulatedClient
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.record import Commit, SimulatedRun
from orchestrator.simulate.script import ON_TIMEOUT, CallKey, CallKind, ScriptedChild

MOMENT_LIMIT = 50_000
"""Commits without any time passing: a loop that never waits."""
TOTAL_LIMIT = 500_000
_RUN_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "orchestrator/simulate")


class Runaway(Exception):
    """The simulation was given up: the flow goes on and on."""


Observer = Callable[[SimulatedRun, Commit], None]


class Environment:
    """A small world: runs by flow id, an agenda, handlers."""

    def __init__(
        self,
        flows: FlowSource,
        calls: Calls,
        *,
        now: datetime,
        children: Mapping[str, ScriptedChild] | None = None,
    ) -> None:
        self.flows = flows
        self.agenda = Agenda(now)
        self.runs: dict[str, list[SimulatedRun]] = {}
        """By flow id, oldest first."""
        self.observers: list[Observer] = []
        self._calls = calls
        self._children = Children(self, children or {})
        self._services = Services(client=SimulatedClient(self))
        self._commit_count = 0
        self._moment_count = 0
        self._moment = now

    @property
    def now(self) -> datetime:
        return self.agenda.now

    def run_until(self, end: datetime, is_over: Callable[[], bool] = lambda: False) -> None:
        """Do what is on the agenda, up to and with `end`. Raises Runaway."""
        while not is_over():
            at = self.agenda.next_at()
            if at is None or at > end:
                return
            self.agenda.take()()

    # --- Runs ---

    def find(self, flow_id: str) -> SimulatedRun:
        """The latest run of a flow id; raises NotFound."""
        if flow_id not in self.runs:
            raise NotFound(f"there is no run {flow_id}", flow_id=flow_id)
        return self.runs[flow_id][-1]

    def start(
        self,
        flow: Flow,
        flow_id: str,
        input: Json = None,
        *,
        policy: ReusePolicy = ReusePolicy.DISALLOW,
        return_existing: bool = False,
        **started: Any,
    ) -> tuple[SimulatedRun, bool]:
        """The run, and whether it is a new one. Raises AlreadyStarted, InvalidValue, NotFound."""
        latest = self.runs[flow_id][-1] if flow_id in self.runs else None
        request_id = started.get("request_id")
        answer, is_repeated = Answer.START, False
        if latest is not None:
            is_repeated = request_id is not None and request_id == latest.run.request_id
            answer = may_start(policy, latest.run.status, is_repeated=is_repeated)
        if latest is not None and answer is Answer.REJECT:
            if return_existing and is_repeated:
                return latest, False
            raise AlreadyStarted(
                refusal(flow_id, latest.run.status, policy, is_repeated=is_repeated), flow_id=flow_id
            )
        started.setdefault("has_input", input is not None)
        event = RunStarted(
            at=self.now, flow_id=flow_id, run_id=self.next_run_id(flow_id), input=input, **started
        )
        if latest is not None and answer is Answer.TERMINATE_FIRST:
            self.commit(latest, StopRequested(at=self.now, stop="terminate"))
        return self.open(flow, event), True

    def next_run_id(self, flow_id: str) -> str:
        """The same in every rehearsal, and in the form that the engine's have."""
        return str(uuid.uuid5(_RUN_IDS, f"{flow_id}/{len(self.runs.get(flow_id, ()))}"))

    def open(self, flow: Flow, event: RunStarted) -> SimulatedRun:
        simulated = SimulatedRun(flow, Run())
        changes = decide(flow, simulated.run, event)  # before it is known, so that a refusal leaves nothing
        self.runs.setdefault(event.flow_id, []).append(simulated)
        self._apply(simulated, event, changes)
        return simulated

    def commit(self, simulated: SimulatedRun, event: Event) -> list[c.Change]:
        """Raises what the core refuses a client's event with."""
        changes = decide(simulated.flow, simulated.run, event)
        if changes:
            self._apply(simulated, event, changes)
        return changes

    def _apply(self, simulated: SimulatedRun, event: Event, changes: list[c.Change]) -> None:
        self._count_commit(simulated)
        commit = Commit(self.now, event, tuple(changes))
        evolve(simulated.run, changes)
        simulated.commits.append(commit)
        for change in changes:
            self._schedule(simulated, change)
        self._children.follow(simulated, changes)
        for observe in self.observers:
            observe(simulated, commit)

    def _schedule(self, simulated: SimulatedRun, change: c.Change) -> None:
        id = (
            change.execution.id if isinstance(change, c.StepQueued) else getattr(change, "execution_id", None)
        )
        execution = simulated.run.executions.get(id) if id is not None else None
        if execution is not None and execution.due_at is not None:
            self.agenda.plan(execution.due_at, partial(self._work, simulated, execution.id))

    def _count_commit(self, simulated: SimulatedRun) -> None:
        self._commit_count += 1
        self._moment_count = self._moment_count + 1 if self._moment == self.now else 1
        self._moment = self.now
        active = ", ".join(sorted(simulated.run.executions)[:5])
        if self._moment_count > MOMENT_LIMIT:
            raise Runaway(
                f"{MOMENT_LIMIT:,} commits and no time passes: a loop without a wait? active: {active}"
            )
        if self._commit_count > TOTAL_LIMIT:
            raise Runaway(
                f"{TOTAL_LIMIT:,} commits and no end: give the rehearsal an `until`; active: {active}"
            )

    # --- Executions ---

    def _work(self, simulated: SimulatedRun, execution_id: str) -> None:
        execution = simulated.run.executions.get(execution_id)
        if execution is None or execution.due_at is None or execution.due_at > self.now:
            return
        if (execution_id, execution.phase, execution.attempt) in simulated.in_flight:
            return
        at, attempt = self.now, execution.attempt
        event: Event
        match task_of(simulated.flow, execution):
            case TaskKind.EVALUATE_WAIT:
                event = WaitForSucceeded(at=at, execution_id=execution_id, attempt=attempt)
            case TaskKind.FIRE_TIMER:
                event = TimerDue(at=at, execution_id=execution_id)
            case TaskKind.DECIDE:
                event = ExecuteSucceeded(at=at, execution_id=execution_id, attempt=attempt)
            case TaskKind.TAKE_LOCKS:
                event = LocksRequested(at=at, execution_id=execution_id, attempt=attempt)
            case TaskKind.CALL_WAIT_FOR | TaskKind.CALL_EXECUTE:
                self._call(simulated, execution)
                return
        self.commit(simulated, event)

    def _call(self, simulated: SimulatedRun, execution: Execution) -> None:
        end = self._call_handler(simulated, execution)
        if end.takes == timedelta(0):
            self._finish(simulated, execution, end.outcome, self.now)
            return
        simulated.in_flight.add((execution.id, execution.phase, execution.attempt))
        self.agenda.plan_after(
            end.takes, partial(self._finish, simulated, execution, end.outcome, self.now), Rank.WORK
        )

    def _call_handler(self, simulated: SimulatedRun, execution: Execution) -> CallEnd:
        try:
            snapshot = take_snapshot(simulated.flow, simulated.run, execution, self.now)
        except MethodFails as fails:
            return CallEnd(timedelta(0), fails.failure)
        kind = CallKind.EXECUTE if execution.phase is Phase.EXECUTE else CallKind.WAIT_FOR
        name = ON_TIMEOUT if execution.step == TIMEOUT_STEP else execution.step
        services = replace(self._services, heartbeat=partial(self._beat, simulated, execution))
        end = self._calls.call(simulated.flow, CallKey(kind, name), snapshot, services)
        limit = method_options(simulated.flow, execution).timeout
        return CallEnd(limit, _timed_out(limit)) if end.takes > limit else end

    def _beat(self, simulated: SimulatedRun, execution: Execution, value: Json) -> None:
        at, attempt = self.now, execution.attempt
        self.commit(simulated, Heartbeaten(at=at, execution_id=execution.id, attempt=attempt, value=value))

    def _finish(
        self, simulated: SimulatedRun, execution: Execution, outcome: Returned | Failure, started_at: datetime
    ) -> None:
        simulated.in_flight.discard((execution.id, execution.phase, execution.attempt))
        at, id, attempt = self.now, execution.id, execution.attempt
        is_wait_for = execution.phase is not Phase.EXECUTE
        event: Event
        if isinstance(outcome, Failure):
            kind = WaitForFailed if is_wait_for else ExecuteFailed
            event = kind(at=at, execution_id=id, attempt=attempt, failure=outcome, started_at=started_at)
        elif is_wait_for:
            event = WaitForSucceeded(
                at=at, execution_id=id, attempt=attempt, wait=outcome.wait, effects=outcome.effects
            )
        else:
            event = ExecuteSucceeded(
                at=at,
                execution_id=id,
                attempt=attempt,
                result=outcome.result,
                choice=outcome.choice,
                effects=outcome.effects,
            )
        self.commit(simulated, event)

    # --- RPCs ---

    def call_rpc(self, simulated: SimulatedRun, event: RpcCalled) -> Json:
        """The output. The handler is called first; an RPC takes no virtual time. Raises as the core does."""
        if event.request_id is not None and event.request_id in simulated.run.answers:
            return simulated.run.answers[event.request_id]
        rpc = find_rpc(simulated.flow, event.name)
        require_callable(simulated.run, rpc)
        if rpc.handler is not None:
            event = self._with_handler(simulated, rpc, event)
        return answer_of(simulated.run, self.commit(simulated, event), event.request_id)

    def _with_handler(self, simulated: SimulatedRun, rpc: Rpc, event: RpcCalled) -> RpcCalled:
        input = check_rpc_input(rpc, event.input, has_input=event.has_input)
        try:
            snapshot = take_rpc_snapshot(simulated.flow, simulated.run, rpc, input, self.now)
        except MethodFails as fails:
            raise HandlerFailed(f"RPC {rpc.name}: {fails.failure.message}", name=rpc.name) from None
        key = CallKey(CallKind.RPC, rpc.name)
        outcome = self._calls.call(simulated.flow, key, snapshot, self._services).outcome
        if isinstance(outcome, Failure):
            kind = Rejected if "Rejected" in outcome.bases else HandlerFailed
            raise kind(f"RPC {rpc.name}: {outcome.type}: {outcome.message}", name=rpc.name)
        return RpcCalled(
            at=self.now,
            name=event.name,
            input=event.input,
            has_input=event.has_input,
            result=outcome.result,
            choice=outcome.choice,
            effects=outcome.effects,
            request_id=event.request_id,
        )


def _timed_out(limit: timedelta) -> Failure:
    return Failure(
        type="Timeout",
        message=f"not finished within {limit.total_seconds():g} s",
        bases=("Timeout", "TimeoutError"),
    )
