"""Carries from run to run what runs ask of one another: subflows (rules 173-180).

Everything is delivered in the transaction that says so, also in chains: a child that asks for children of its
own, an end that ends the parent. Parent and child may be worked on by different processes.
"""

from __future__ import annotations

from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.events import Event, StopRequested, SubflowRefused, Watcher, WatcherAttached
from orchestrator.core.state import Phase, Status
from orchestrator.core.subflows import Reuse, closed_event, resolve_reuse, start_of_child, watcher_of
from orchestrator.core.tasks import step_of
from orchestrator.core.transition import decide
from orchestrator.definition.catalogue import check_executable
from orchestrator.definition.model import Flow, SubflowCondition
from orchestrator.engine.batch import Batch, Letter, log
from orchestrator.engine.cache import Entry
from orchestrator.engine.ids import random_id
from orchestrator.engine.opening import open_run
from orchestrator.engine.runs import Runs
from orchestrator.errors import NotFound, OrchestratorError, StoreError
from orchestrator.store.contract import Transaction


class Children:
    """Delivers the letters of one transaction."""

    def __init__(self, transaction: Transaction, batch: Batch, runs: Runs) -> None:
        self._transaction = transaction
        self._batch = batch
        self._runs = runs

    def deliver(self, sender: Entry, letter: Letter) -> None:
        if isinstance(letter, c.ChildRequested):
            self._request(sender, letter)
        elif isinstance(letter, c.ChildAbandoned):
            self._abandon(sender, letter)
        else:
            for watcher in sender.run.watchers:
                self._report(sender, watcher)

    def knows_children(self, parent: Entry, execution_id: str) -> bool:
        execution = parent.run.executions.get(execution_id)
        if execution is None or execution.phase is not Phase.WAIT_FOR:
            return True
        wait_for = step_of(parent.flow, execution).wait_for
        for condition in wait_for.conditions if wait_for is not None else ():
            if isinstance(condition, SubflowCondition):
                try:
                    self._flow_of(parent, condition.flow)
                except NotFound:
                    return False
        return True

    # --- A child is asked for ---

    def _request(self, parent: Entry, request: c.ChildRequested) -> None:
        try:
            self._find_or_start(parent, request)
        except StoreError:
            raise
        except OrchestratorError as error:
            self._refuse(parent, request, error.message)

    def _find_or_start(self, parent: Entry, request: c.ChildRequested) -> None:
        if request.flow_id == parent.run.flow_id:
            raise NotFound(f"{request.flow_id} cannot wait for itself")
        flow = self._flow_of(parent, request.flow)
        latest = self._runs.by_flow_id(self._transaction, request.flow_id)
        if latest is not None and latest.flow.name != flow.name:
            raise NotFound(f"{request.flow_id} is a run of {latest.flow.name}, not of {flow.name}")
        reuse = resolve_reuse(request, None if latest is None else latest.run)
        watcher = watcher_of(parent.run, request)
        if latest is not None and reuse is Reuse.USE_RESULT:
            self._report(latest, watcher)
        elif latest is not None and reuse is Reuse.ATTACH:
            self._tell(latest, WatcherAttached(at=self._batch.now, watcher=watcher))
        else:
            event = start_of_child(parent.run, request, random_id(), self._batch.now)
            open_run(self._transaction, self._batch, self._runs, flow, event, latest)

    def _flow_of(self, parent: Entry, name: str) -> Flow:
        """Raises NotFound. A run's own type is its own definition."""
        if name == parent.flow.name:
            return parent.flow
        flow = self._runs.definitions.of_type(name, self._transaction)
        if problems := check_executable(flow):
            raise NotFound(problems[0].concise())
        return flow

    def _refuse(self, parent: Entry, request: c.ChildRequested, message: str) -> None:
        self._tell(
            parent,
            SubflowRefused(
                at=self._batch.now,
                execution_id=request.execution_id,
                condition=request.condition,
                flow_id=request.flow_id,
                message=message,
            ),
        )

    # --- A child has ended, or is wanted no more ---

    def _report(self, child: Entry, watcher: Watcher) -> None:
        parent = self._runs.by_flow_id(self._transaction, watcher.flow_id)
        if parent is not None and parent.run.run_id == watcher.run_id:
            self._tell(parent, replace(closed_event(child.run, watcher), at=self._batch.now))

    def _abandon(self, parent: Entry, letter: c.ChildAbandoned) -> None:
        """Only a run that the parent watches is its child: one that was refused it is not."""
        child = self._runs.by_flow_id(self._transaction, letter.flow_id)
        if child is None or child.run.status is not Status.RUNNING:
            return
        if any(watcher.run_id == parent.run.run_id for watcher in child.run.watchers):
            self._tell(child, StopRequested(at=self._batch.now, stop=letter.stop))

    def _tell(self, entry: Entry, event: Event) -> None:
        """A mistake of ours there must not keep the sender from being stored."""
        try:
            changes = decide(entry.flow, entry.run, event)
        except Exception:
            log.exception("run %s: %s cannot be decided", entry.run.flow_id, type(event).__name__)
            return
        if changes:
            self._batch.record(entry, event, changes)
