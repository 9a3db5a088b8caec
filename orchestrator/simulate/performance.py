"""Play one rehearsal and judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as FilePath

from orchestrator.core import changes as c
from orchestrator.core.events import RpcCalled
from orchestrator.core.state import Status
from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import Path
from orchestrator.errors import DefinitionInvalid, OrchestratorError
from orchestrator.simulate.agenda import Rank
from orchestrator.simulate.calls import BoundFlows, Calls
from orchestrator.simulate.compare import Difference, compare
from orchestrator.simulate.environment import Environment, Runaway
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.outcome import differences
from orchestrator.simulate.record import Commit, SimulatedRun
from orchestrator.simulate.script import ClientAct, Rehearsal, RehearsalFile


@dataclass(slots=True)
class Performance:
    """What became of one rehearsal. `simulated` is None when the start was refused."""

    rehearsal: Rehearsal
    simulated: SimulatedRun | None = None
    differences: list[Difference] = field(default_factory=list)
    runs: list[SimulatedRun] = field(default_factory=list)
    """All runs, those of children too."""

    @property
    def is_passed(self) -> bool:
        return not self.differences


def rehearse(
    file: RehearsalFile,
    rehearsal: Rehearsal,
    *,
    bound: BoundFlows | None = None,
    flows: FlowSource | None = None,
) -> Performance:
    """A real handler that cannot be called is a difference too, once it is needed."""
    bound = bound or BoundFlows()
    return _Stage(
        file, rehearsal, bound, flows or FlowSource(file.flow, FilePath(file.flow_path).parent)
    ).play()


class _Stage:
    def __init__(
        self, file: RehearsalFile, rehearsal: Rehearsal, bound: BoundFlows, flows: FlowSource
    ) -> None:
        self._flow = file.flow
        self._rehearsal = rehearsal
        calls = Calls(file.flow, rehearsal.replies, bound)
        self._environment = Environment(flows, calls, now=rehearsal.starts_at, children=rehearsal.children)
        self._performance = Performance(rehearsal)
        self._differences = self._performance.differences
        self._waiting = list(rehearsal.acts)
        """Acts that have not taken place."""
        self._planned: list[ClientAct] = []
        """Acts whose moment is known, or has been."""

    def play(self) -> Performance:
        rehearsal = self._rehearsal
        self._environment.observers.append(self._react)
        for act in rehearsal.acts:
            if act.trigger.after is None:
                self._plan(act)
        try:
            simulated, _ = self._environment.start(
                self._flow,
                rehearsal.flow_id,
                rehearsal.input,
                has_input=rehearsal.has_input,
                attributes=dict(rehearsal.attributes),
                timeout=rehearsal.timeout,
                delay=rehearsal.delay,
            )
        except OrchestratorError as error:
            self._note("start", rehearsal.path, f"the start was refused: {error.type}: {error.message}")
            return self._performance
        self._performance.simulated = simulated
        self._run(simulated)
        self._differences += differences(simulated, rehearsal.expectations)
        self._performance.runs = [run for runs in self._environment.runs.values() for run in runs]
        return self._performance

    def _run(self, simulated: SimulatedRun) -> None:
        rehearsal = self._rehearsal
        end = rehearsal.starts_at + rehearsal.until
        try:
            self._environment.run_until(end, lambda: self._is_over(simulated))
        except Runaway as error:
            self._note("run", (*rehearsal.path, "name"), str(error))
            return
        except DefinitionInvalid as error:
            self._note("handlers", (*rehearsal.path, "name"), error.message)
            return
        for act in self._waiting:
            self._note("event", act.path, f"could not {act.text}: {self._why_not(act, simulated)}")

    def _is_over(self, simulated: SimulatedRun) -> bool:
        """Acts that wait for something that can still come keep it going."""
        return simulated.run.status is not Status.RUNNING and not any(
            act in self._planned or act.flow_id is not None for act in self._waiting
        )

    def _why_not(self, act: ClientAct, simulated: SimulatedRun) -> str:
        if act.trigger.after is not None:
            return f"it never came to that {act.trigger.text}"
        span = format_duration(act.trigger.span)
        return f"{span} after the start is beyond `until`"

    # --- Clients ---

    def _plan(self, act: ClientAct) -> None:
        self._planned.append(act)
        rank = Rank.REACTION if act.trigger.after is not None and not act.trigger.span else Rank.CLIENT
        self._environment.agenda.plan_after(act.trigger.span, partial(self._act, act), rank)

    def _react(self, simulated: SimulatedRun, commit: Commit) -> None:
        for change in commit.changes:
            if isinstance(change, c.StepEnded) and change.how == "completed":
                self._trigger(simulated, change.execution_id, is_wait=False)
            elif isinstance(change, c.WaitAccepted):
                self._trigger(simulated, change.execution_id, is_wait=True)

    def _trigger(self, simulated: SimulatedRun, execution_id: str, *, is_wait: bool) -> None:
        for act in self._rehearsal.acts:
            trigger = act.trigger
            if trigger.after != execution_id or trigger.is_wait != is_wait:
                continue
            if (act.flow_id or self._rehearsal.flow_id) == simulated.run.flow_id:
                self._plan(act)

    def _act(self, act: ClientAct) -> None:
        if act in self._waiting:
            self._waiting.remove(act)
        answer = act.answer
        expected_error = answer.error if answer is not None else None
        try:
            output = self._perform(act)
        except OrchestratorError as error:
            at = (*answer.path, "error") if answer is not None and expected_error else act.path
            if error.type != expected_error:
                wanted = f"expected {expected_error}, " if expected_error else ""
                self._note("event", at, f"{act.text}: {wanted}it was refused: {error.type}: {error.message}")
            elif answer is not None and answer.message is not None and answer.message not in error.message:
                message = f"{act.text}: {answer.message} is not in: {error.message}"
                self._note("event", (*answer.path, "message"), message)
            return
        if expected_error is not None and answer is not None:
            message = f"{act.text}: expected {expected_error}, it was not refused"
            self._note("event", (*answer.path, "error"), message)
        elif answer is not None and answer.has_output:
            found = compare(f"output of {act.text}", answer.output, output, (*answer.path, "output"))
            self._differences += [found] if found is not None else []

    def _perform(self, act: ClientAct) -> object:
        environment = self._environment
        simulated = environment.find(act.flow_id or self._rehearsal.flow_id)
        event = act.event(environment.now)
        if isinstance(event, RpcCalled):
            return environment.call_rpc(simulated, event)
        environment.commit(simulated, event)
        return None

    def _note(self, what: str, path: Path, message: str) -> None:
        self._differences.append(Difference(what, path, message, has_values=False))
