"""One attempt to have a run go as a storyline tells: handlers, clients and children do what it says, on time.

Each beat has its moment of virtual time, so that what happens in parallel happens in the story's order. Data
are drawn from samples: `picks` says which of those that fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice

from orchestrator.binding.context import Services
from orchestrator.binding.invoke import Returned
from orchestrator.core import changes as c
from orchestrator.core.events import (
    DeadlineSkipped,
    Event,
    ExecuteSucceeded,
    Failure,
    Message,
    MessagesPublished,
    RpcCalled,
    TimerSkipped,
)
from orchestrator.core.snapshot import Snapshot
from orchestrator.core.state import Phase, Status
from orchestrator.core.transition import decide
from orchestrator.definition.model import Flow, Json, Rpc, Step, SubflowCondition
from orchestrator.errors import OrchestratorError
from orchestrator.simulate.agenda import Deed, Rank
from orchestrator.simulate.calls import CallEnd, Calls
from orchestrator.simulate.casting import Cast, Part
from orchestrator.simulate.drawing import draw_effects, draw_wait, reads_of, step_named
from orchestrator.simulate.environment import Environment, Runaway
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.likeness import Tally, are_told_starts, fits_all, is_harmless, is_told_end
from orchestrator.simulate.record import Commit, SimulatedRun
from orchestrator.simulate.samples import Samples
from orchestrator.simulate.script import STARTS_AT, CallKey, CallKind, ScriptedChild
from orchestrator.simulate.storyline import Beat, BeatKind, Storyline
from orchestrator.simulate.takes import INPUT, Act, Call, Mishap, Slot, Take

FLOW_ID = "counterexample"
NEVER = timedelta(days=9000)
FAILURE = Failure("RuntimeError", "as the counterexample has it", ("RuntimeError", "Exception"), None, False)
_FITTING_LIMIT = 40
"""Fitting values of one call that are told apart."""
_COMMIT_LIMIT = 1000
_AT_A_TIME, _AFTER_A_STEP = "at a time", "after a step"


class Director(Calls):
    """Stands where the handlers' calls are answered."""

    def __init__(
        self,
        flow: Flow,
        story: Storyline,
        flows: FlowSource,
        samples: Samples,
        picks: Mapping[Slot, int],
        *,
        tick: timedelta,
        goes_by_name: bool,
    ) -> None:
        super().__init__(flow, {})
        self._told = flow
        self._story = story
        self._samples = samples
        self._picks = picks
        self._tick = tick
        self._cast = Cast(story, goes_by_name=goes_by_name)
        self._slots: list[Slot] = [INPUT]
        """In the order of their use."""
        self._calls: list[Call] = []
        self._acts: list[Act] = []
        self._reactions: dict[str, list[Deed]] = {}
        """What clients do right after the Execute of an execution."""
        self._tally = Tally(flow)
        self._is_seen = False
        """The state that the story ends with was there."""
        children = dict(self._script_children())
        self._environment = Environment(flows, self, now=STARTS_AT, children=children)
        self._environment.observers.append(self._watch)
        self._children = children

    # --- The whole ---

    def play(self) -> Take:
        """Raises Mishap."""
        input, has_input = self._draw_input()
        for index, beat in enumerate(self._story.all_beats):
            self._plan(index, beat)
        try:
            simulated, _ = self._environment.start(
                self._told, FLOW_ID, input, has_input=has_input, delay=self._delay
            )
            until = None if self._is_resting else self._moment(len(self._story.all_beats) - 1)
            self._environment.run_until(STARTS_AT + (NEVER if until is None else until))
        except (OrchestratorError, Runaway) as error:
            raise Mishap(str(error), self._slots) from None
        self._check_end()
        if simulated.run.status is not Status.RUNNING or self._environment.agenda.next_at() is None:
            until = None
        return Take(simulated, input, has_input, self._delay, self._calls, self._acts, self._children, until)

    @property
    def _delay(self) -> timedelta | None:
        """Of the start step, where clients come before it."""
        first = self._story.beats[0]
        if (
            first.kind not in (BeatKind.PUBLISHED, BeatKind.RPC, BeatKind.TIMED_OUT)
            or self._told.start is None
        ):
            return None
        part = self._cast.part_of(f"{self._told.start}-1", self._told.start)
        index = min(part.indexes.values(), default=None)
        return timedelta(hours=1) if index is None else self._moment(index)

    @property
    def _is_resting(self) -> bool:
        return self._story.is_at_rest or self._story.status != Status.RUNNING

    def _moment(self, index: int) -> timedelta:
        return self._tick * index

    def _draw_input(self) -> tuple[Json, bool]:
        flow = self._told
        start = flow.steps[flow.start] if flow.start is not None else None
        types = [
            each for each in (flow.input, start.input if start is not None else None) if each is not None
        ]
        if not types:
            return None, False
        fitting = (value for value in self._samples.of(types[0]) if fits_all(value, types))
        return self._pick(INPUT, fitting, "no start input left to try", ()), True

    def _pick(self, slot: Slot, options: Iterator[Json], reason: str, blamed: Sequence[Slot]) -> Json:
        if slot not in self._slots:
            self._slots.append(slot)
        found = list(islice(options, self._picks.get(slot, 0), self._picks.get(slot, 0) + 1))
        if not found:
            raise Mishap(reason, [each for each in blamed if each != slot], slot)
        return found[0]

    # --- Clients ---

    def _plan(self, index: int, beat: Beat) -> None:
        agenda, at = self._environment.agenda, STARTS_AT + self._moment(index)
        match beat.kind:
            case BeatKind.PUBLISHED | BeatKind.RPC:
                do = self._publish if beat.kind is BeatKind.PUBLISHED else self._call_rpc
                after = self._trigger(index)
                if after is None:
                    agenda.plan(at, partial(do, index, beat), Rank.CLIENT)
                else:
                    self._reactions.setdefault(after, []).append(partial(do, index, beat, after))
            case BeatKind.TIMED_OUT:
                agenda.plan(at, self._reach_deadline, Rank.CLIENT)
            case BeatKind.SATISFIED if beat.conditions:
                at = STARTS_AT + self._moment(self._cast.ending_of(beat, self._decides_at_once(beat)))
                agenda.plan(at, partial(self._end_wait, beat), Rank.CLIENT)

    def _trigger(self, index: int) -> str | None:
        """None: at its moment. Else the execution after whose end it comes at once, before any other work."""
        before = [beat for beat in self._story.all_beats[:index] if beat.kind is BeatKind.DECIDED]
        ways = iter([_AT_A_TIME, *([_AFTER_A_STEP] if before else [])])
        slot = Slot("trigger", str(index))
        is_timed = self._pick(slot, ways, "no other time to act at", ()) == _AT_A_TIME
        return None if is_timed else before[-1].execution_id

    def _decides_at_once(self, beat: Beat) -> bool:
        """Without a handler the step decides in the commit that ends its wait, whatever the story says."""
        return self._told.steps[beat.name].execute is None

    def _publish(self, index: int, beat: Beat, after: str | None = None) -> None:
        channel = self._told.channels[beat.name]
        slot = Slot("publish", str(index))
        value = self._pick(slot, self._samples.of(channel.type), f"no message for {beat.name}", self._slots)
        message = Message(channel.name, value, "a" if channel.is_map else None)
        self._act(MessagesPublished(at=self._environment.now, messages=(message,)), after)

    def _reach_deadline(self) -> None:
        self._act(DeadlineSkipped(at=self._environment.now))

    def _end_wait(self, beat: Beat) -> None:
        """Timers that win are skipped; whatever else ends a wait comes by itself."""
        run = self._environment.find(FLOW_ID).run
        for execution in list(run.executions.values()):
            if execution.phase is not Phase.WAITING or execution.wait is None:
                continue
            if not self._cast.is_played_by(beat.execution_id, execution.id, run):
                continue
            for pending in execution.wait.conditions:
                is_asked = pending.id in beat.conditions and pending.kind == "timer"
                if is_asked and not pending.has_fired:
                    at = self._environment.now
                    self._act(TimerSkipped(at=at, execution_id=execution.id, condition=pending.id))
                    return

    def _act(self, event: Event, after: str | None = None) -> None:
        self._acts.append(Act(self._environment.now - STARTS_AT, event, after))
        self._environment.commit(self._environment.find(FLOW_ID), event)

    def _call_rpc(self, index: int, beat: Beat, after: str | None = None) -> None:
        rpc = self._told.rpcs[beat.name]
        simulated = self._environment.find(FLOW_ID)
        slot = Slot("rpc", str(index))
        inputs = self._samples.of(rpc.input) if rpc.input is not None else iter([None])
        fitting = (
            value for value in inputs if rpc.handler is not None or self._does(simulated, rpc, beat, value)
        )
        value = self._pick(slot, fitting, f"no input with which RPC {rpc.name} does so", self._slots[::-1])
        event = RpcCalled(
            at=self._environment.now, name=rpc.name, input=value, has_input=rpc.input is not None
        )
        self._acts.append(Act(self._environment.now - STARTS_AT, event, after))
        self._cast.rpc = beat
        self._environment.call_rpc(simulated, event)

    def _does(
        self, simulated: SimulatedRun, rpc: Rpc, beat: Beat, input: Json, returned: Returned | None = None
    ) -> bool:
        made = returned or Returned()
        event = RpcCalled(
            at=self._environment.now,
            name=rpc.name,
            input=input,
            has_input=rpc.input is not None,
            result=made.result,
            choice=made.choice,
            effects=made.effects,
        )
        try:
            changes = decide(simulated.flow, simulated.run, event)
        except OrchestratorError:
            return False
        answered = [change for change in changes if isinstance(change, c.RpcAnswered)]
        return (
            bool(answered)
            and beat.decision in (None, answered[0].decision)
            and are_told_starts(changes, beat)
        )

    # --- Handlers ---

    def call(self, flow: Flow, key: CallKey, snapshot: Snapshot, services: Services) -> CallEnd:
        if key.kind is CallKind.RPC:
            end = CallEnd(timedelta(0), self._answer_rpc(snapshot))
            self._calls.append(Call(key, f"rpc:{key.name}", end))
            return end
        part = self._cast.part_of(snapshot.execution.id, step_named(flow, snapshot.execution.step).name)
        beat = part.wait if key.kind is CallKind.WAIT_FOR else part.end
        if beat is None:
            end = CallEnd(min(NEVER, timedelta(hours=1)), Returned())
        else:
            left = STARTS_AT + self._moment(part.index_of(beat)) - self._environment.now
            end = CallEnd(max(left, timedelta(0)), self._outcome(flow, key, snapshot, part, beat))
        self._calls.append(Call(key, snapshot.execution.id, end))
        return end

    def _outcome(
        self, flow: Flow, key: CallKey, snapshot: Snapshot, part: Part, beat: Beat
    ) -> Returned | Failure:
        if beat.kind in (BeatKind.FAILED, BeatKind.WAIT_FOR_FAILED):
            return FAILURE
        step = step_named(flow, snapshot.execution.step)
        if key.kind is CallKind.WAIT_FOR:
            assert step.wait_for is not None
            return draw_wait(flow, step.wait_for, beat, part, self._samples)
        slot = Slot("call", snapshot.execution.id)
        reason = f"no result with which {snapshot.execution.id} takes decision {beat.decision}"
        returned = self._pick(
            slot, self._fitting(step, snapshot, beat), reason, self._blame(snapshot.execution.id)
        )
        assert isinstance(returned, Returned)
        return returned

    def _fitting(self, step: Step, snapshot: Snapshot, beat: Beat) -> Iterator[Json]:
        """Results with which the beat's decision is taken, as the run stands now; given back first."""
        simulated = self._environment.find(FLOW_ID)
        choice = step.decisions[beat.decision - 1].choice if beat.decision and step.decisions else None
        sampled = self._samples.of(step.result.type, reads_of(step))
        is_echo = step.result.type is not None and snapshot.execution.input is not None
        results = [*([snapshot.execution.input] if is_echo else []), *sampled]
        count = 0
        for effects in draw_effects(self._told, step.execute, beat, self._samples):
            for result in results:
                returned = Returned(result, choice, None, effects)
                if self._is_right(simulated, snapshot, beat, returned):
                    yield returned
                    count += 1
                    if count >= _FITTING_LIMIT:
                        return

    def _is_right(self, simulated: SimulatedRun, snapshot: Snapshot, beat: Beat, returned: Returned) -> bool:
        event = ExecuteSucceeded(
            at=self._environment.now,
            execution_id=snapshot.execution.id,
            attempt=snapshot.execution.attempt,
            result=returned.result,
            choice=returned.choice,
            effects=returned.effects,
        )
        changes = decide(simulated.flow, simulated.run, event)
        ended = [
            change
            for change in changes
            if isinstance(change, c.StepEnded) and change.execution_id == snapshot.execution.id
        ]
        return (
            bool(ended)
            and is_told_end(ended[0], beat)
            and are_told_starts(changes, beat, snapshot.execution.id)
        )

    def _answer_rpc(self, snapshot: Snapshot) -> Returned:
        beat = self._cast.rpc
        assert beat is not None
        rpc = self._told.rpcs[beat.name]
        simulated = self._environment.find(FLOW_ID)
        choice = rpc.decisions[beat.decision - 1].choice if beat.decision and rpc.decisions else None
        fitting = (
            returned
            for effects in draw_effects(self._told, rpc.handler, beat, self._samples)
            for result in self._samples.of(rpc.result.type, reads_of(rpc))
            for returned in [Returned(result, choice, None, effects)]
            if self._does(simulated, rpc, beat, snapshot.execution.input, returned)
        )
        slot = Slot("answer", f"{rpc.name}/{len(self._calls)}")
        found = self._pick(slot, fitting, f"no result with which RPC {rpc.name} does so", self._slots[::-1])
        assert isinstance(found, Returned)
        return found

    # --- Children ---

    def _script_children(self) -> Iterator[tuple[str, ScriptedChild]]:
        """All children of a type end alike: as the first one that the story tells of."""
        for step in self._told.steps.values():
            for condition in step.wait_for.conditions if step.wait_for is not None else ():
                if isinstance(condition, SubflowCondition):
                    yield condition.flow, self._script_child(step, condition)

    def _script_child(self, step: Step, condition: SubflowCondition) -> ScriptedChild:
        for index, beat in enumerate(self._story.all_beats):
            is_its = beat.kind is BeatKind.CHILD_CLOSED and beat.name == step.name
            if not is_its or condition.id not in beat.conditions:
                continue
            begin = self._cast.begin_of(beat.execution_id)
            status = next((given.value for given in beat.given if given.what == condition.id), "COMPLETED")
            status = status if status in list(Status) and status != Status.RUNNING else "COMPLETED"
            index = self._cast.ending_of(beat, self._decides_at_once(beat))
            reads = [path[1:] for path in reads_of(step, ("wait", condition.id)) if path[:1] == ("output",)]
            slot = Slot("child", condition.flow)
            options = self._samples.of(None, reads) if reads else iter([None])
            output = self._pick(slot, options, f"no output of {condition.flow} left", self._slots)
            outputs = (output,) if status == Status.COMPLETED else ()
            error = {"type": "step_failed", "message": FAILURE.message} if status == Status.FAILED else None
            return ScriptedChild(status, outputs, error, max(self._moment(index - begin), timedelta(0)))
        return ScriptedChild(takes=NEVER)

    # --- Watching ---

    def _watch(self, simulated: SimulatedRun, commit: Commit) -> None:
        if simulated.run.flow_id != FLOW_ID:
            return
        if len(simulated.commits) > _COMMIT_LIMIT + 20 * len(self._story.all_beats):
            raise Mishap("it goes round without any time passing, and no rehearsal could stop it", ())
        for change in commit.changes:
            if isinstance(change, c.StepQueued):
                self._cast.enter(change.execution)
            elif isinstance(change, c.StepEnded) and change.how != "cancelled":
                self._check_step(change)
                for deed in self._reactions.pop(change.execution_id, []):
                    self._environment.agenda.plan(self._environment.now, deed, Rank.REACTION)
            self._tally.apply(change)
            if self._cast.is_before_cycle and self._tally.difference(self._story) is None:
                self._is_seen = True

    def _check_step(self, ended: c.StepEnded) -> None:
        step = self._cast.step_of(ended.execution_id)
        part = self._cast.part_of(ended.execution_id, step)
        if part.end is None:
            if self._is_seen and self._cast.is_all_over and not self._is_resting:
                return
            if is_harmless(self._told, part, ended):
                self._tally.overlooked.add(ended.execution_id)
                return
            raise Mishap(f"{ended.execution_id} ends, untold", self._blame(ended.execution_id))
        if not is_told_end(ended, part.end):
            what = "fails" if ended.how == "failed" else f"takes decision {ended.decision}"
            raise Mishap(f"{ended.execution_id} {what}", self._blame(ended.execution_id))
        part.is_over = True

    def _blame(self, execution_id: str) -> list[Slot]:
        """Its own data, those of whom it comes from, the start input, then all others, the latest first."""
        line = [Slot("call", each) for each in self._cast.line_of(execution_id)]
        first = [slot for slot in line if slot in self._slots]
        rest = [slot for slot in reversed(self._slots) if slot not in first and slot != INPUT]
        return [*first, INPUT, *rest]

    def _check_end(self) -> None:
        """At rest, the run stands so in the end; else it did at some time."""
        if self._is_seen and self._cast.is_all_over and not self._is_resting:
            return
        difference = self._tally.difference(self._story)
        if difference is not None or not self._is_seen or not self._cast.is_all_over:
            raise Mishap(difference or "the story was not told to its end", self._slots)
