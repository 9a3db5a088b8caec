"""Random definitions under random events: invariants hold, histories replay, and the engine agrees."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.core import codec
from orchestrator.core.changes import Change
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    Message,
    MessagesPublished,
    StopRequested,
    TimerDue,
)
from orchestrator.core.image import image_of
from orchestrator.core.invariants import check
from orchestrator.core.state import Phase, Run
from orchestrator.core.tasks import TaskKind, task_of
from orchestrator.core.transition import decide, evolve
from orchestrator.definition.model import Flow
from orchestrator.engine import batch as engine_batch
from orchestrator.engine import opening as engine_opening
from orchestrator.engine.submission import Request
from orchestrator.errors import OrchestratorError
from tests.support.engine_kit import Kit
from tests.support.play import Play
from tests.support.random_flows import flows

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["work", "work", "work", "fail", "publish", "publish", "time", "stop"]),
        st.integers(0, 9),
    ),
    max_size=25,
)
CHANNELS = ["queue", "flash", "latest", "small", "keyed"]
MOST_ACTIVE = 30


def event_of(flow: Flow, run: Run, action: str, number: int, now: Any) -> Event | None:
    """What the action means for the run as it stands; None: nothing."""
    if action == "publish":
        channel = CHANNELS[number % len(CHANNELS)]
        message = Message(channel, number, "k" if channel == "keyed" else None)
        return MessagesPublished(at=now, messages=(message,))
    if action == "stop":
        return StopRequested(at=now) if number == 0 else None
    called = [
        execution
        for execution in run.executions.values()
        if execution.due_at is not None
        and execution.due_at <= now
        and task_of(flow, execution) is TaskKind.CALL_EXECUTE
    ]
    if not called:
        return None
    execution = called[number % len(called)]
    if action == "work":
        return ExecuteSucceeded(at=now, execution_id=execution.id, attempt=execution.attempt)
    failure = Failure(type="ValueError", message="boom")
    return ExecuteFailed(at=now, execution_id=execution.id, attempt=execution.attempt, failure=failure)


def state_of(run: Run) -> bytes:
    return msgspec.json.encode((run.version, image_of(run)))


class CheckedPlay(Play):
    """Also checks that deciding leaves the run as it was."""

    def send(self, event: Event) -> list[Change]:
        before = state_of(self.run)
        decide(self.flow, self.run, event)
        assert state_of(self.run) == before, "decide changed the run"
        return super().send(event)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flow=flows(), actions=ACTIONS)
def test_the_core_keeps_its_invariants_and_every_history_replays(
    flow: Flow, actions: list[tuple[str, int]]
) -> None:
    play = CheckedPlay(flow, input=0)
    _settle(play)
    for action, number in actions:
        if len(play.run.executions) > MOST_ACTIVE or play.run.closed_at is not None:
            break
        if action == "time":
            play.advance(number)
        else:
            event = event_of(flow, play.run, action, number, play.now)
            if event is None:
                continue
            try:
                play.send(event)
            except OrchestratorError:
                continue  # refused: the run is untouched, as `send` has checked
        _settle(play)
    assert state_of(play.replayed()) == state_of(play.run)


def _settle(play: Play) -> None:
    """At most so many rounds: a flow of steps without handlers may go on for ever."""
    for _ in range(10):
        if len(play.run.executions) > MOST_ACTIVE or not play.settle_once():
            return


class Mirror:
    """The pure model of one run, fed with the events that the engine decided on."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.run = Run()

    def decide(self, flow: Flow, run: Run, event: Event) -> list[Change]:
        changes = decide(flow, run, event)
        expected = decide(self.flow, self.run, event)
        assert codec.encode(changes) == codec.encode(expected), "the engine decides otherwise"
        if expected:
            evolve(self.run, codec.decode(codec.encode(expected)))
            check(self.run)
        return changes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flow=flows(), actions=ACTIONS)
def test_the_engine_on_sqlite_equals_the_model_after_every_commit(
    flow: Flow, actions: list[tuple[str, int]]
) -> None:
    mirror = Mirror(flow)
    with (
        tempfile.TemporaryDirectory() as directory,
        patch.object(engine_batch, "decide", mirror.decide),
        patch.object(engine_opening, "decide", mirror.decide),
    ):
        kit = Kit(Path(directory))
        try:
            kit.client.start(flow, "run-1", 0)
            _compare(kit, mirror)
            for action, number in actions:
                if mirror.run.closed_at is not None or len(mirror.run.executions) > MOST_ACTIVE:
                    break
                _act(kit, mirror, action, number)
                _compare(kit, mirror)
            assert kit.differences == []
        finally:
            kit.close()


def _act(kit: Kit, mirror: Mirror, action: str, number: int) -> None:
    if action == "time":
        kit.clock.advance(seconds=number)
        for execution in list(mirror.run.executions.values()):
            if execution.phase is Phase.WAITING and execution.due_at and execution.due_at <= kit.clock.now():
                _request(kit, TimerDue(at=kit.clock.now(), execution_id=execution.id))
        return
    event = event_of(mirror.flow, mirror.run, action, number, kit.clock.now())
    if event is not None:
        _request(kit, event)


def _request(kit: Kit, event: Event) -> None:
    request = Request("run-1", lambda at: msgspec.structs.replace(event, at=at))
    kit.engine.submit(request)
    try:
        request.receipt.result()
    except OrchestratorError:
        return  # refused; the comparison says whether it left a trace


def _compare(kit: Kit, mirror: Mirror) -> None:
    with kit.engine.store.reading() as reading:
        head = reading.find_latest("run-1")
        assert head is not None
        stored = reading.load(head).run
    assert state_of(stored) == state_of(mirror.run)
