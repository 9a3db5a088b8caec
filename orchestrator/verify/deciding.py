"""Events of the search, decided by the core: on a run that holds no more than the event can touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_fields

from orchestrator.core.changes import AttemptFailed, Change, RpcAnswered, StepEnded
from orchestrator.core.draft import Draft
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    RpcCalled,
    RunStarted,
    SubflowClosed,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.evolve import evolve, rebuild_indexes
from orchestrator.core.state import TIMEOUT_ID, TIMEOUT_STEP, Execution, Phase, Run, Status
from orchestrator.core.tasks import proceeds_on_wait_failure
from orchestrator.core.transition import decide
from orchestrator.core.waits import Win
from orchestrator.definition.model import Flow, Path, Rpc, Step, SubflowCondition, WaitFor
from orchestrator.errors import OrchestratorError
from orchestrator.graph.query import iterate_values
from orchestrator.verify.answers import Answers
from orchestrator.verify.counting import difference
from orchestrator.verify.interpreter import Interpreter
from orchestrator.verify.oracle import Oracle
from orchestrator.verify.places import NOW, Place
from orchestrator.verify.probing import Prober, Reading
from orchestrator.verify.relevance import Relevance
from orchestrator.verify.report import EventKind, Guess
from orchestrator.verify.skeleton import strip
from orchestrator.verify.state import Counts, Outcome, State
from orchestrator.verify.unknown import Unknown

_FATAL = Failure("Error", "it failed for good", is_retryable=False)
Act = Callable[[Run], list[Change]]
"""What the core makes of an event on a probe."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """An event that may happen in a state, and what of the state it can touch."""

    state: State
    kind: EventKind
    path: Path
    actor: Place | None = None
    others: tuple[tuple[Place, int], ...] = ()
    queues: Counts = ()


class Decider:
    """Puts events of one definition to the core, once for every combination of guesses."""

    def __init__(self, flow: Flow, fan_out: Iterable[int], relevance: Relevance, prober: Prober) -> None:
        self._flow = flow
        self._prober = prober
        self._oracle = Oracle(tuple(fan_out))
        self._interpreter = Interpreter(self._oracle)
        self._skeleton = strip(flow, self._interpreter)
        self._answers = Answers(flow, self._oracle, relevance.attributes)

    def begin(self) -> Iterator[tuple[Reading, tuple[Guess, ...]]]:
        """A run just started, before its first step has done anything."""
        return self._oracle.runs(self._begin)

    def outcomes(self, occasion: Occasion, act: Act) -> Iterator[Outcome]:
        """Every way in which the core may decide the event."""
        for outcome, guesses in self._oracle.runs(lambda: self._play(occasion, act)):
            if outcome is not None:
                yield replace(outcome, guesses=guesses)

    # --- Events ---------------------------------------------------------------------------------------------

    def satisfy(self, win: Win) -> Act:
        def act(run: Run) -> list[Change]:
            draft = Draft(self._skeleton, run, NOW)
            draft.satisfy_wait(_first(run), win.winners, win.fired, win.counts)
            return draft.changes

        return act

    def end_child(self, condition: int, flow_id: str, status: Status) -> Act:
        def act(run: Run) -> list[Change]:
            event = SubflowClosed(
                at=NOW,
                execution_id=_first(run).id,
                condition=condition,
                flow_id=flow_id,
                status=status.value,
            )
            return self._decide(run, event)

        return act

    def accept_wait(self, run: Run) -> list[Change]:
        return self._accept(run, _first(run))

    def fail_wait(self, run: Run) -> list[Change]:
        event = WaitForFailed(at=NOW, execution_id=_first(run).id, attempt=1, failure=_FATAL)
        return self._decide(run, event)

    def execute(self, step: Step) -> Act:
        return lambda run: self._execute(run, step, _first(run).id)

    def fail(self, run: Run) -> list[Change]:
        event = ExecuteFailed(at=NOW, execution_id=_first(run).id, attempt=1, failure=_FATAL)
        return self._decide(run, event)

    def call(self, rpc: Rpc) -> Act:
        def act(run: Run) -> list[Change]:
            answer = self._answers.of(rpc)
            event = RpcCalled(
                at=NOW,
                name=rpc.name,
                input=None if rpc.input is None else Unknown(rpc.input),
                has_input=rpc.input is not None,
                result=answer.result,
                choice=answer.choice,
                effects=answer.effects,
            )
            return self._decide(run, event)

        return act

    def time_out(self, handler: Step) -> Act:
        def act(run: Run) -> list[Change]:
            run.executions[TIMEOUT_ID] = Execution(
                step=TIMEOUT_STEP, number=1, origin="", phase=Phase.EXECUTE, due_at=NOW
            )
            rebuild_indexes(run)
            return self._execute(run, handler, TIMEOUT_ID)

        return act

    def _decide(self, run: Run, event: Event) -> list[Change]:
        return decide(self._skeleton, run, event, settles=False)

    def _execute(self, run: Run, step: Step, execution_id: str) -> list[Change]:
        answer = self._answers.of(step)
        event = ExecuteSucceeded(
            at=NOW,
            execution_id=execution_id,
            attempt=1,
            result=answer.result,
            choice=answer.choice,
            effects=answer.effects,
        )
        return self._decide(run, event)

    def _accept(self, run: Run, execution: Execution) -> list[Change]:
        wait_for = self._flow.steps[execution.step].wait_for
        assert wait_for is not None
        event = WaitForSucceeded(
            at=NOW,
            execution_id=execution.id,
            attempt=1,
            wait=self._answers.wait(wait_for),
            effects=self._answers.effects(wait_for.handler),
        )
        return self._decide(run, event)

    # --- Probes ---------------------------------------------------------------------------------------------

    def _begin(self) -> Reading:
        self._interpreter.reset()
        start = self._flow.steps[self._flow.start] if self._flow.start is not None else None
        takes_input = self._flow.input is not None or (start is not None and start.input is not None)
        event = RunStarted(
            at=NOW,
            flow_id="run",
            run_id="run",
            input=Unknown(self._flow.input) if takes_input else None,
            has_input=takes_input,
        )
        run = Run()
        evolve(run, self._decide(run, event))
        run.executions.pop(TIMEOUT_ID, None)
        rebuild_indexes(run)
        self._enter(run)
        return self._prober.read(run, None)

    def _play(self, occasion: Occasion, act: Act) -> Outcome | None:
        """None: the core refuses the event, or it comes to nothing."""
        self._interpreter.reset()
        run = self._prober.build(occasion.state, occasion.actor, occasion.others, occasion.queues)
        before = self._prober.read(run, occasion.state)
        actor = _first(run).id if occasion.actor is not None else None
        try:
            changes = act(run)
        except OrchestratorError:
            return None
        if any(isinstance(change, AttemptFailed) for change in changes):
            return None
        evolve(run, changes)
        self._enter(run)
        return self._outcome(occasion, actor, run, before, changes)

    def _enter(self, run: Run) -> None:
        """Waits that call no handler and do not fail are accepted at once; equal ones are looked at once."""
        accepted: dict[Place, Execution] = {}
        for execution in list(run.executions.values()):
            if execution.phase is not Phase.WAIT_FOR or run.status is not Status.RUNNING:
                continue
            wait_for = self._flow.steps[execution.step].wait_for
            assert wait_for is not None
            if wait_for.handler is not None or self._may_go_on_without(execution, wait_for):
                continue
            place = self._prober.freeze(execution)
            twin = accepted.get(place)
            if twin is not None and not wait_for.effects:
                run.executions[execution.id] = replace_fields(twin, number=execution.number)
                continue
            guess_count = len(self._oracle.guesses)
            evolve(run, self._accept(run, execution))
            if execution.id in run.executions and guess_count == len(self._oracle.guesses):
                accepted[place] = run.executions[execution.id]

    def _may_go_on_without(self, execution: Execution, wait_for: WaitFor) -> bool:
        """Its evaluation may fail, and the author says that the step then goes on."""
        if not proceeds_on_wait_failure(self._flow, execution):
            return False
        has_subflow = any(isinstance(condition, SubflowCondition) for condition in wait_for.conditions)
        return has_subflow or any(value.expressions for value in iterate_values(wait_for))

    def _outcome(
        self, occasion: Occasion, actor: str | None, run: Run, before: Reading, changes: list[Change]
    ) -> Outcome:
        after = self._prober.read(run, occasion.state)
        places = self._prober.places
        ends = [change for change in changes if isinstance(change, StepEnded)]
        own = next((end for end in ends if end.execution_id in (actor, TIMEOUT_ID)), None)
        cancelled = [e for e in ends if e.how == "cancelled" and e.execution_id in before.whereabouts]
        stays = after.whereabouts.get(actor) if actor is not None else None
        started = Counter(n for id, n in after.whereabouts.items() if id not in before.whereabouts)
        starts = tuple((places[number], count) for number, count in started.items())
        return Outcome(
            kind=EventKind.FAILED if own is not None and own.how == "failed" else occasion.kind,
            step=occasion.actor.step if occasion.actor is not None else None,
            path=occasion.path,
            places=difference(after.places, before.places),
            queues=difference(after.queues, before.queues),
            data=None if after.data == before.data else after.data,
            rounds=None if after.rounds == before.rounds else after.rounds,
            is_completing=run.is_completing,
            status=run.status,
            decision=_decision(own, changes),
            otherwise_count=own.otherwise_count if own is not None else 0,
            actor=occasion.actor,
            becomes=None if stays is None else places[stays],
            starts=starts,
            depth=max((len(place.line) for place, _ in starts), default=0),
            cancels=tuple(Counter(places[before.whereabouts[e.execution_id]] for e in cancelled).items()),
        )


def _first(run: Run) -> Execution:
    """The actor of a probe."""
    return next(iter(run.executions.values()))


def _decision(own: StepEnded | None, changes: list[Change]) -> int | None:
    """Which one was taken: the actor's, or the RPC's."""
    if own is not None:
        return own.decision
    return next((change.decision for change in changes if isinstance(change, RpcAnswered)), None)
