"""What can happen next in a state. Each event is decided by the core, on a run that holds no more than the
event can touch, and remembered: the same event in the same surroundings is decided once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

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
from orchestrator.core.rounds import DraftRound
from orchestrator.core.state import (
    TIMEOUT_ID,
    TIMEOUT_STEP,
    BranchReport,
    Execution,
    Phase,
    Round,
    Run,
    Status,
)
from orchestrator.core.transition import decide
from orchestrator.core.waits import Win, win_of
from orchestrator.definition.model import Flow, Path, Rpc, Step, TimeoutPolicy
from orchestrator.errors import OrchestratorError
from orchestrator.verify.answers import Answers
from orchestrator.verify.interpreter import Interpreter
from orchestrator.verify.oracle import Oracle
from orchestrator.verify.places import NOW, Place, Places
from orchestrator.verify.probing import Prober, Reading
from orchestrator.verify.relevance import Relevance
from orchestrator.verify.report import EventKind, Guess
from orchestrator.verify.skeleton import ANY_KEY, strip
from orchestrator.verify.sources import Source, sources_of
from orchestrator.verify.state import Counts, Outcome, State
from orchestrator.verify.surroundings import Surroundings, key_of
from orchestrator.verify.unknown import Unknown

_FATAL = Failure("Error", "it failed for good", is_retryable=False)
_CHILD_ENDS = (Status.COMPLETED, Status.FAILED)
_Act = Callable[[Run], list[Change]]


class Transitions:
    """The states of one definition and the ways between them, for some sizes of fan-out."""

    def __init__(self, flow: Flow, fan_out: Iterable[int], external: dict[str, tuple[int, int]]) -> None:
        self.flow = flow
        self._oracle = Oracle(tuple(fan_out))
        self._interpreter = Interpreter(self._oracle)
        self._skeleton = strip(flow, self._interpreter)
        relevance = Relevance(flow)
        self._surroundings = Surroundings(flow, relevance)
        places = Places(flow, relevance, keeps_origins=self._surroundings.has_siblings)
        self._prober = Prober(flow, relevance, places)
        self._answers = Answers(flow, self._oracle, relevance.attributes)
        self.sources: tuple[Source, ...] = sources_of(flow, external)
        self._memory: dict[Hashable, tuple[Outcome, ...]] = {}
        self.crowd = max(self._oracle.lengths)
        """The largest fan-out."""

    @property
    def places(self) -> list[Place]:
        """By number; grows while the search goes on."""
        return self._prober.places

    @property
    def queues(self) -> list[tuple[str, str | None]]:
        """By number: channel, and key of a map's instance."""
        return self._prober.queues

    # --- Where it begins ------------------------------------------------------------------------------------

    def initial(self) -> list[tuple[State, tuple[Guess, ...]]]:
        """A run just started, before its first step has done anything."""
        takes_input = self.flow.input is not None or (
            self.flow.start is not None and self.flow.steps[self.flow.start].input is not None
        )
        found = []
        for reading, guesses in self._oracle.runs(lambda: self._begin(takes_input)):
            state = State(
                marking=_counts(reading.places),
                queues=_counts(reading.queues),
                data=reading.data,
                rounds=reading.rounds,
                budget=tuple(source.budget for source in self.sources),
                is_completing=False,
                has_timed_out=False,
                status=Status.RUNNING,
            )
            found.append((state, guesses))
        return found

    def _begin(self, takes_input: bool) -> Reading:
        self._interpreter.reset()
        event = RunStarted(
            at=NOW,
            flow_id="run",
            run_id="run",
            input=Unknown(self.flow.input) if takes_input else None,
            has_input=takes_input,
        )
        run = Run()
        evolve(run, decide(self._skeleton, run, event, settles=False))
        run.executions.pop(TIMEOUT_ID, None)
        rebuild_indexes(run)
        self._enter(run)
        return self._prober.read(run, None)

    # --- What can happen ------------------------------------------------------------------------------------

    def outcomes(self, state: State) -> Iterator[Outcome]:
        """Everything that can happen next, the flow's own events first."""
        for number, _ in state.marking:
            yield from self._of_place(state, number)
        if not state.marking and state.is_completing:
            yield self._completion(state)
        yield from self._from_outside(state)

    def _of_place(self, state: State, number: int) -> Iterator[Outcome]:
        place = self.places[number]
        if place.phase is Phase.WAITING:
            yield from self._satisfactions(state, number, place)
            yield from self._child_ends(state, number, place)
        else:
            yield from self._calls(state, number, place)

    def _from_outside(self, state: State) -> Iterator[Outcome]:
        for index, source in enumerate(self.sources):
            if state.budget[index] > 0:
                act = self._call_rpc if source.rpc is not None else self._publish
                yield from act(state, index, source)
        if self.flow.timeout is not None and not state.has_timed_out:
            yield from self._deadline(state)

    @staticmethod
    def _completion(state: State) -> Outcome:
        return Outcome(
            EventKind.COMPLETED, None, (), (), (), state.data, state.rounds, status=Status.COMPLETED
        )

    # --- Waits ----------------------------------------------------------------------------------------------

    def _satisfactions(self, state: State, number: int, place: Place) -> Iterator[Outcome]:
        wait = place.wait
        assert wait is not None
        sizes = dict(state.queues)
        rounds = {round.name: round for round in state.rounds}

        def size(key: tuple[str, str | None]) -> int:
            return sizes.get(self._prober.queue_number(key), 0)

        def find(name: str) -> DraftRound:
            found = rounds[name]
            reports = [BranchReport(0, None)] * found.report_count
            return DraftRound(Round(name.partition("/")[0], *found[1:6], reports=reports))

        if not wait.groups:
            yield from self._satisfied(state, number, place, Win((), (), {}))
        for group in wait.groups:
            fired = tuple(index for index in group if wait.conditions[index].kind == "timer")
            win = win_of(wait, group, fired, size, find)
            if win is not None:
                yield from self._satisfied(state, number, place, win)

    def _satisfied(self, state: State, number: int, place: Place, win: Win) -> tuple[Outcome, ...]:
        taken = tuple(win.counts.items())
        key = ("satisfied", number, win.winners, taken, state.data, state.rounds)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = (self._satisfy(state, place, win),)
        return found

    def _satisfy(self, state: State, place: Place, win: Win) -> Outcome:
        wait = place.wait
        assert wait is not None
        needed: Counter[int] = Counter()
        for index, count in win.counts.items():
            condition = wait.conditions[index]
            assert condition.channel is not None
            needed[self._prober.queue_number((condition.channel, condition.key))] += count

        def act(run: Run) -> list[Change]:
            draft = Draft(self._skeleton, run, NOW)
            execution = next(iter(run.executions.values()))
            draft.satisfy_wait(execution, win.winners, win.fired, win.counts)
            return draft.changes

        conditions = tuple(dict.fromkeys(wait.conditions[index].id for index in win.winners))
        step = self.flow.steps[place.step]
        path: Path = step.wait_for.path if step.wait_for is not None else step.path
        for declared in step.wait_for.conditions if step.wait_for is not None else ():
            if declared.id in conditions:
                path = declared.path
                break
        (outcome,) = self._probe(state, EventKind.SATISFIED, place, (), _counts(needed), act, path)
        return replace(outcome, conditions=conditions)

    def _child_ends(self, state: State, number: int, place: Place) -> Iterator[Outcome]:
        wait = place.wait
        assert wait is not None
        for index, condition in enumerate(wait.conditions):
            if condition.child is None or condition.child.status != Status.RUNNING:
                continue
            key = ("child", number, index, state.data, state.rounds)
            if key not in self._memory:
                ends = [self._end_child(state, place, index, status) for status in _CHILD_ENDS]
                self._memory[key] = tuple(ends)
            yield from self._memory[key]

    def _end_child(self, state: State, place: Place, index: int, status: Status) -> Outcome:
        assert place.wait is not None
        condition = place.wait.conditions[index]
        child = condition.child
        assert child is not None
        step = self.flow.steps[place.step]
        assert step.wait_for is not None
        path = next(declared.path for declared in step.wait_for.conditions if declared.id == condition.id)

        def act(run: Run) -> list[Change]:
            execution = next(iter(run.executions))
            event = SubflowClosed(
                at=NOW,
                execution_id=execution,
                condition=index,
                flow_id=child.flow_id,
                status=status.value,
            )
            return decide(self._skeleton, run, event, settles=False)

        (outcome,) = self._probe(state, EventKind.CHILD_CLOSED, place, (), (), act, path)
        guess = Guess(path, condition.id, status.value)
        return replace(outcome, guesses=(guess,), conditions=(condition.id,))

    # --- Calls of methods, and decisions --------------------------------------------------------------------

    def _calls(self, state: State, number: int, place: Place) -> tuple[Outcome, ...]:
        others, queues = self._around(state, place.step, number)
        rounds = state.rounds if place.line or place.faces or others else ()
        key = (number, state.data, self._rounds_seen(state, place.step, rounds), others, queues)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = tuple(self._call(state, place, others, queues))
        return found

    def _rounds_seen(self, state: State, step: str, rounds: Hashable) -> Hashable:
        """A step that opens rounds gives them names that are free."""
        return state.rounds if self.flow.joins else rounds

    def _call(self, state: State, place: Place, others: Counts, queues: Counts) -> Iterator[Outcome]:
        step = self.flow.steps[place.step]
        crowd = tuple((self.places[number], count) for number, count in others)
        if place.phase is Phase.WAIT_FOR:
            assert step.wait_for is not None
            yield from self._probe(
                state, EventKind.WAIT_FOR, place, crowd, queues, self._evaluate_wait, step.wait_for.path
            )
            event = WaitForFailed(at=NOW, execution_id=f"{place.step}-1", attempt=1, failure=_FATAL)
            yield from self._probe(
                state,
                EventKind.WAIT_FOR_FAILED,
                place,
                crowd,
                queues,
                self._deciding(event),
                step.wait_for.path,
            )
            return
        yield from self._probe(
            state, EventKind.DECIDED, place, crowd, queues, lambda run: self._execute(run, step), step.path
        )
        if step.execute is not None:
            failed = ExecuteFailed(at=NOW, execution_id=f"{place.step}-1", attempt=1, failure=_FATAL)
            yield from self._probe(
                state, EventKind.FAILED, place, crowd, queues, self._deciding(failed), step.execute.path
            )

    def _deciding(self, event: Event) -> _Act:
        return lambda run: decide(self._skeleton, run, event, settles=False)

    def _execute(self, run: Run, step: Step, execution_id: str | None = None) -> list[Change]:
        answer = self._answers.of(step)
        event = ExecuteSucceeded(
            at=NOW,
            execution_id=execution_id or f"{step.name}-1",
            attempt=1,
            result=answer.result,
            choice=answer.choice,
            effects=answer.effects,
        )
        return decide(self._skeleton, run, event, settles=False)

    def _evaluate_wait(self, run: Run) -> list[Change]:
        execution = next(iter(run.executions.values()))
        return self._accept(run, execution)

    def _accept(self, run: Run, execution: Execution) -> list[Change]:
        wait_for = self.flow.steps[execution.step].wait_for
        assert wait_for is not None
        event = WaitForSucceeded(
            at=NOW,
            execution_id=execution.id,
            attempt=1,
            wait=self._answers.wait(wait_for),
            effects=self._answers.effects(wait_for.handler),
        )
        return decide(self._skeleton, run, event, settles=False)

    def _enter(self, run: Run) -> None:
        """Waits without a handler are accepted at once; equal ones of a large fan-out are looked at once."""
        accepted: dict[Place, Execution] = {}
        for execution in list(run.executions.values()):
            if execution.phase is not Phase.WAIT_FOR or run.status is not Status.RUNNING:
                continue
            wait_for = self.flow.steps[execution.step].wait_for
            assert wait_for is not None
            if wait_for.handler is not None:
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

    # --- From outside ---------------------------------------------------------------------------------------

    def _publish(self, state: State, index: int, source: Source) -> Iterator[Outcome]:
        assert source.channel is not None
        channel = self.flow.channels[source.channel]
        number = self._prober.queue_number((channel.name, ANY_KEY if channel.is_map else None))
        size = dict(state.queues).get(number, 0)
        if channel.capacity is not None and size >= channel.capacity:
            return
        yield Outcome(
            EventKind.PUBLISHED,
            None,
            channel.path,
            (),
            ((number, 1),),
            state.data,
            state.rounds,
            source=index,
            channel=channel.name,
        )

    def _call_rpc(self, state: State, index: int, source: Source) -> tuple[Outcome, ...]:
        assert source.rpc is not None
        rpc = self.flow.rpcs[source.rpc]
        others, queues = self._around(state, key_of(rpc), None)
        key = ("rpc", rpc.name, state.data, state.rounds, others, queues)
        found = self._memory.get(key)
        if found is None:
            crowd = tuple((self.places[number], count) for number, count in others)
            made = self._probe(
                state, EventKind.RPC, None, crowd, queues, lambda run: self._answer(run, rpc), rpc.path
            )
            outcomes = [replace(outcome, source=index, step=rpc.name) for outcome in made]
            found = self._memory[key] = tuple(outcomes)
        return found

    def _answer(self, run: Run, rpc: Rpc) -> list[Change]:
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
        return decide(self._skeleton, run, event, settles=False)

    def _deadline(self, state: State) -> Iterator[Outcome]:
        timeout, handler = self.flow.timeout, self.flow.on_timeout
        assert timeout is not None
        if timeout.policy is not TimeoutPolicy.HANDLER or handler is None:
            status = Status.CANCELED if timeout.policy is TimeoutPolicy.CANCEL else Status.FAILED
            yield Outcome(
                EventKind.TIMED_OUT,
                None,
                timeout.path,
                (),
                (),
                state.data,
                state.rounds,
                times_out=True,
                status=status,
            )
            return
        others, queues = self._around(state, key_of(handler), None)
        crowd = tuple((self.places[number], count) for number, count in others)

        def act(run: Run) -> list[Change]:
            run.executions[TIMEOUT_ID] = Execution(
                step=TIMEOUT_STEP, number=1, origin="", phase=Phase.EXECUTE, due_at=NOW
            )
            rebuild_indexes(run)
            return self._execute(run, handler, TIMEOUT_ID)

        for outcome in self._probe(state, EventKind.TIMED_OUT, None, crowd, queues, act, handler.path):
            yield replace(outcome, times_out=True)

    # --- Deciding on a probe --------------------------------------------------------------------------------

    def _around(self, state: State, decider: str, actor: int | None) -> tuple[Counts, Counts]:
        """The other executions and the queues that an event of this decider can touch."""
        victims = self._surroundings.victims[decider]
        sized = self._surroundings.channels[decider]
        others: list[tuple[int, int]] = []
        if victims is None or victims:
            for number, count in state.marking:
                if victims is None or self.places[number].step in victims:
                    left = count - (number == actor)
                    others += [(number, left)] if left else []
        queues = [(number, count) for number, count in state.queues if self.queues[number][0] in sized]
        return tuple(others), tuple(queues)

    def _probe(
        self,
        state: State,
        kind: EventKind,
        place: Place | None,
        crowd: tuple[tuple[Place, int], ...],
        queues: Counts,
        act: _Act,
        path: Path,
    ) -> Iterator[Outcome]:
        """Every way in which the core may decide the event."""

        def play() -> Outcome | None:
            self._interpreter.reset()
            run, _ = self._prober.build(state, place, crowd, queues)
            before = self._prober.read(run, state)
            known = dict(run.executions)
            try:
                changes = act(run)
            except OrchestratorError:
                return None  # refused: nothing happens
            if any(isinstance(change, AttemptFailed) for change in changes):
                return None
            evolve(run, changes)
            self._enter(run)
            return self._outcome(state, kind, place, run, before, known, changes, path)

        for outcome, guesses in self._oracle.runs(play):
            if outcome is not None:
                yield replace(outcome, guesses=guesses)

    def _outcome(
        self,
        state: State,
        kind: EventKind,
        place: Place | None,
        run: Run,
        before: Reading,
        known: dict[str, Execution],
        changes: list[Change],
        path: Path,
    ) -> Outcome:
        after = self._prober.read(run, state)
        actor = next(iter(known), None) if place is not None else None
        ends = [change for change in changes if isinstance(change, StepEnded)]
        own = next((end for end in ends if end.execution_id in (actor, TIMEOUT_ID)), None)
        cancelled = Counter(
            self.places[before.whereabouts[end.execution_id]]
            for end in ends
            if end.how == "cancelled" and end.execution_id in known
        )
        started = Counter(self.places[number] for id, number in after.whereabouts.items() if id not in known)
        answered = next((change for change in changes if isinstance(change, RpcAnswered)), None)
        stays = after.whereabouts.get(actor) if actor is not None else None
        decision = own.decision if own is not None else answered.decision if answered is not None else None
        return Outcome(
            kind=EventKind.FAILED if own is not None and own.how == "failed" else kind,
            step=place.step if place is not None else None,
            path=path,
            places=_difference(after.places, before.places),
            queues=_difference(after.queues, before.queues),
            data=after.data,
            rounds=after.rounds,
            is_completing=run.is_completing,
            status=run.status,
            decision=decision,
            otherwise_count=own.otherwise_count if own is not None else 0,
            actor=place,
            becomes=None if stays is None else self.places[stays],
            starts=tuple(started.items()),
            cancels=tuple(cancelled.items()),
        )


def follow(state: State, outcome: Outcome) -> State:
    """The state after; of a closed run only what its verdict needs is kept."""
    marking = _changed(state.marking, outcome.places)
    queues = _changed(state.queues, outcome.queues)
    if outcome.status is Status.COMPLETED:
        return State(marking, queues, (), (), (), False, False, outcome.status)
    if outcome.status is not Status.RUNNING:
        return State((), (), (), (), (), False, False, outcome.status)
    budget = state.budget
    if outcome.source is not None:
        budget = (*budget[: outcome.source], budget[outcome.source] - 1, *budget[outcome.source + 1 :])
    return State(
        marking,
        queues,
        outcome.data,
        outcome.rounds,
        budget,
        state.is_completing or outcome.is_completing,
        state.has_timed_out or outcome.times_out,
        outcome.status,
    )


def _changed(counts: Counts, changes: Counts) -> Counts:
    if not changes:
        return counts
    merged = dict(counts)
    for number, change in changes:
        left = merged.get(number, 0) + change
        if left:
            merged[number] = left
        else:
            merged.pop(number, None)
    return tuple(sorted(merged.items()))


def _counts(counter: Counter[int]) -> Counts:
    return tuple(sorted((number, count) for number, count in counter.items() if count))


def _difference(after: Counter[int], before: Counter[int]) -> Counts:
    numbers = {*after, *before}
    return tuple(sorted((n, after[n] - before[n]) for n in numbers if after[n] != before[n]))
