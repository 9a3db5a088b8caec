"""Follows a run's commits through the verifier's model: every commit must be events that the model has.

What the run did is read from its changes alone. The search does not know the run's data, so that several of
its states may fit; the run is accepted while at least one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from orchestrator.core import changes as c
from orchestrator.core.evolve import evolve
from orchestrator.core.state import TIMEOUT_ID, TIMEOUT_STEP, Execution, Phase, Run, Status
from orchestrator.definition.model import Flow
from orchestrator.verify.report import EventKind
from orchestrator.verify.state import Outcome, State
from orchestrator.verify.transitions import Transitions

SIZES = (0, 1, 2, 3, 4, 5, 7)
OFTEN = 30
"""How often clients may act."""
MOST_FITTING = 100
NOT_MODELLED = ("StopRequested", "AttributesWritten")
_DEADLINES = ("TimerDue", "DeadlineSkipped")


class Deed(NamedTuple):
    """One event of the model, as far as a commit tells it."""

    kind: EventKind
    name: str | None
    """Step, RPC or channel."""
    decision: int | None = None


class Shown(NamedTuple):
    """What can be compared of a run and of a state of the search."""

    active: Counter[tuple[str, str]]
    unread: Counter[str]
    is_completing: bool
    status: Status


class NotAccepted(AssertionError):
    """The model does not have what the run did."""


class Follower:
    def __init__(self, flow: Flow) -> None:
        external = dict.fromkeys([*flow.channels, *flow.rpcs], (0, OFTEN))
        self._flow = flow
        self._transitions = Transitions(flow, SIZES, external)
        self._run = Run()
        self._fitting: set[State] = set()

    def follow(self, commits: Iterable[tuple[str, Sequence[c.Change]]]) -> int:
        """Event and changes of each commit; gives the number of events of the model, raises NotAccepted.

        What no model has ends it: a stop, attributes that a client writes by itself. So does a run that fits
        more states than it pays to follow.
        """
        count = 0
        for event, changes in commits:
            if event in NOT_MODELLED or len(self._fitting) > MOST_FITTING:
                return count
            deeds = [] if self._is_fresh else list(self._deeds(event, changes))
            evolve(self._run, changes)
            self._take(deeds)
            self._compare(deeds)
            count += len(deeds)
        return count

    @property
    def _is_fresh(self) -> bool:
        return not self._run.flow_id

    def _take(self, deeds: list[Deed]) -> None:
        if not self._fitting:
            self._fitting = {state for state, _ in self._transitions.initial()}
        for deed in deeds:
            self._fitting = {
                after
                for state in self._fitting
                if state.is_running
                for outcome in self._transitions.outcomes(state)
                if _is(outcome, deed)
                for after in self._transitions.after(state, outcome)
            }
            if not self._fitting:
                raise NotAccepted(f"the model has no {deed}")
        if self._run.status is not Status.RUNNING:
            self._fitting = {after for state in self._fitting for after in self._completed(state)}

    def _completed(self, state: State) -> Iterator[State]:
        """A graceful completion is part of the commit that ends the last branch."""
        if not state.is_running:
            yield state
            return
        for outcome in self._transitions.outcomes(state):
            if outcome.kind is EventKind.COMPLETED:
                yield from self._transitions.after(state, outcome)

    def _compare(self, deeds: list[Deed]) -> None:
        if any(self._is_unsettled(each) for each in self._run.executions.values()):
            return
        wanted = shown_run(self._flow, self._run)
        kept = {state for state in self._fitting if self._shown(state) == wanted}
        if not kept:
            found = "\n".join(str(self._shown(state)) for state in list(self._fitting)[:3])
            raise NotAccepted(f"after {deeds} the run is\n{wanted}\nthe model has\n{found}")
        self._fitting = kept

    def _is_unsettled(self, execution: Execution) -> bool:
        """The model accepts a wait in the event that starts the step, the engine in a commit of its own."""
        if execution.phase is not Phase.WAIT_FOR:
            return False
        wait_for = self._flow.steps[execution.step].wait_for
        return wait_for is not None and wait_for.handler is None and bool(wait_for.effects)

    def _shown(self, state: State) -> Shown:
        if not state.is_running:
            return Shown(Counter(), Counter(), False, state.status)
        active: Counter[tuple[str, str]] = Counter()
        for number, count in state.marking:
            place = self._transitions.places[number]
            if place.step != TIMEOUT_STEP:
                active[place.step, place.phase.value] += count
        unread: Counter[str] = Counter()
        for number, count in state.queues:
            unread[self._transitions.queues[number][0]] += count
        return Shown(active, unread, state.is_completing, state.status)

    # --- What a commit did ---

    def _deeds(self, event: str, changes: Sequence[c.Change]) -> Iterator[Deed]:
        answered = next((each for each in changes if isinstance(each, c.RpcAnswered)), None)
        if answered is not None and any(each.rpc == answered.name for each in self._transitions.sources):
            yield Deed(EventKind.RPC, answered.name, answered.decision)
        is_from_client = event == "MessagesPublished"
        for change in changes:
            if isinstance(change, c.MessageQueued) and is_from_client:
                yield Deed(EventKind.PUBLISHED, change.channel)
            found = list(self._deed(change))
            is_from_client = is_from_client and not found
            yield from found
        closed = next((each for each in changes if isinstance(each, c.RunClosed)), None)
        if (
            closed is not None
            and event in _DEADLINES
            and not any(isinstance(e, c.StepEnded) for e in changes)
        ):
            yield Deed(EventKind.TIMED_OUT, None)

    def _deed(self, change: c.Change) -> Iterator[Deed]:
        match change:
            case c.WaitAccepted(execution_id=id):
                step = self._flow.steps[_step_of(id)]
                if step.wait_for is not None and step.wait_for.handler is not None:
                    yield Deed(EventKind.WAIT_FOR, step.name)
            case c.WaitSkipped(execution_id=id):
                yield Deed(EventKind.WAIT_FOR_FAILED, _step_of(id))
            case c.WaitSatisfied(execution_id=id):
                yield Deed(EventKind.SATISFIED, _step_of(id))
            case c.ChildReported(execution_id=id):
                yield Deed(EventKind.CHILD_CLOSED, _step_of(id))
            case c.StepEnded(execution_id=id, how="completed", decision=decision):
                if id == TIMEOUT_ID:
                    yield Deed(EventKind.TIMED_OUT, None, decision)
                else:
                    yield Deed(EventKind.DECIDED, _step_of(id), decision)
            case c.StepEnded(execution_id=id, how="failed"):
                yield Deed(EventKind.FAILED, _step_of(id))


def shown_run(flow: Flow, run: Run) -> Shown:
    if run.status is not Status.RUNNING:
        return Shown(Counter(), Counter(), False, run.status)
    active: Counter[tuple[str, str]] = Counter()
    for execution in run.executions.values():
        if execution.step != TIMEOUT_STEP:
            active[execution.step, _phase(flow, execution)] += 1
    unread: Counter[str] = Counter()
    for (channel, _), messages in run.queues.items():
        unread[channel] += len(messages)
    return Shown(active, unread, run.is_completing, run.status)


def _phase(flow: Flow, execution: Execution) -> str:
    wait_for = flow.steps[execution.step].wait_for
    has_handler = wait_for is not None and wait_for.handler is not None
    if execution.phase is Phase.WAIT_FOR and not has_handler:
        return Phase.WAITING.value
    return execution.phase.value


def _is(outcome: Outcome, deed: Deed) -> bool:
    if outcome.kind is not deed.kind:
        return False
    if deed.kind is EventKind.PUBLISHED:
        return outcome.channel == deed.name
    if deed.kind is EventKind.TIMED_OUT:
        return outcome.decision == deed.decision
    return outcome.step == deed.name and (deed.decision is None or outcome.decision == deed.decision)


def _step_of(execution_id: str) -> str:
    return execution_id.rpartition("-")[0]
