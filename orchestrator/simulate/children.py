"""What runs ask of one another: subflows (rules 173-180), real ones or scripted ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.events import StopRequested, SubflowClosed, SubflowRefused, Watcher, WatcherAttached
from orchestrator.core.state import Status
from orchestrator.core.subflows import Reuse, closed_event, resolve_reuse, start_of_child, watcher_of
from orchestrator.errors import OrchestratorError
from orchestrator.simulate.agenda import Rank
from orchestrator.simulate.record import SimulatedRun
from orchestrator.simulate.script import ScriptedChild

if TYPE_CHECKING:
    from orchestrator.simulate.environment import Environment


class Children:
    """Carries requests, abandonments and ends from run to run, right after the commit that says so."""

    def __init__(self, environment: Environment, scripted: Mapping[str, ScriptedChild]) -> None:
        self._environment = environment
        self._scripted = scripted

    def follow(self, simulated: SimulatedRun, changes: Sequence[c.Change]) -> None:
        agenda = self._environment.agenda
        for change in changes:
            if isinstance(change, c.ChildRequested):
                agenda.plan(agenda.now, partial(self._request, simulated, change), Rank.REACTION)
            elif isinstance(change, c.ChildAbandoned):
                agenda.plan(agenda.now, partial(self._abandon, simulated, change), Rank.REACTION)
            elif isinstance(change, c.RunClosed):
                for watcher in simulated.run.watchers:
                    agenda.plan(agenda.now, partial(self._report, simulated, watcher), Rank.REACTION)

    def _request(self, parent: SimulatedRun, request: c.ChildRequested) -> None:
        scripted = self._scripted.get(request.flow)
        if scripted is not None:
            self._script(parent, request, scripted)
            return
        if request.flow_id == parent.run.flow_id:
            self._refuse(parent, request, f"{request.flow_id} cannot wait for itself")
            return
        flow = self._environment.flows.child(request.flow)
        if isinstance(flow, str):
            self._refuse(parent, request, flow)
            return
        runs = self._environment.runs.get(request.flow_id, [])
        latest = runs[-1] if runs else None
        if latest is not None and latest.flow.name != flow.name:
            self._refuse(parent, request, f"{request.flow_id} is a run of {latest.flow.name}")
            return
        reuse = resolve_reuse(request, None if latest is None else latest.run)
        watcher = watcher_of(parent.run, request)
        if latest is not None and reuse is Reuse.USE_RESULT:
            self._report(latest, watcher)
        elif latest is not None and reuse is Reuse.ATTACH:
            self._environment.commit(latest, WatcherAttached(at=self._environment.now, watcher=watcher))
        else:
            if latest is not None and reuse is Reuse.TERMINATE_AND_START:
                self._environment.commit(latest, StopRequested(at=self._environment.now, stop="terminate"))
            run_id = self._environment.next_run_id(request.flow_id)
            event = start_of_child(parent.run, request, run_id, self._environment.now)
            try:
                self._environment.open(flow, event)
            except OrchestratorError as error:
                self._refuse(parent, request, error.message)

    def _script(self, parent: SimulatedRun, request: c.ChildRequested, scripted: ScriptedChild) -> None:
        event = SubflowClosed(
            at=self._environment.now,
            execution_id=request.execution_id,
            condition=request.condition,
            flow_id=request.flow_id,
            status=scripted.status,
            outputs=scripted.outputs,
            error=scripted.error,
        )
        self._environment.agenda.plan_after(scripted.takes, partial(self._tell, parent, event))

    def _tell(self, parent: SimulatedRun, event: SubflowClosed) -> None:
        self._environment.commit(parent, replace(event, at=self._environment.now))

    def _refuse(self, parent: SimulatedRun, request: c.ChildRequested, message: str) -> None:
        self._environment.commit(
            parent,
            SubflowRefused(
                at=self._environment.now,
                execution_id=request.execution_id,
                condition=request.condition,
                flow_id=request.flow_id,
                message=message,
            ),
        )

    def _report(self, child: SimulatedRun, watcher: Watcher) -> None:
        for parent in self._environment.runs.get(watcher.flow_id, ()):
            if parent.run.run_id == watcher.run_id:
                self._tell(parent, closed_event(child.run, watcher))

    def _abandon(self, parent: SimulatedRun, change: c.ChildAbandoned) -> None:
        """Only a run that the parent watches is its child: one that was refused it is not."""
        runs = self._environment.runs.get(change.flow_id)
        if not runs or runs[-1].run.status is not Status.RUNNING:
            return
        if any(watcher.run_id == parent.run.run_id for watcher in runs[-1].run.watchers):
            self._environment.commit(runs[-1], StopRequested(at=self._environment.now, stop=change.stop))
