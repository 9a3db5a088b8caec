"""Subflow conditions, seen from the parent (rules 173-180)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core import changes as c
from orchestrator.core import codec
from orchestrator.core.events import Heartbeaten, SubflowClosed, SubflowRefused, Watcher, WatcherAttached
from orchestrator.core.state import Run, Status
from orchestrator.core.subflows import Reuse, closed_event, resolve_reuse, start_of_child, watcher_of
from tests.support.play import Play

FLOW = """
flow: Parent
input: integer
channels: {stop: {type: string, external: true}}
start: A
steps:
  A:
    input: integer
    wait_for:
      any_of:
        - {subflow: Child, input: "${input + 1}", if_abandoned: cancel}
        - {subflow: Other, id: named, flow_id: other-1, when: input > 5}
        - {channel: stop}
      on_failure: proceed
    execute: a
    graceful_complete: "${wait}"
"""


def started(input: int = 1) -> Play:
    play = Play(FLOW, input=input)
    play.settle()
    return play


def requests(play: Play) -> list[c.ChildRequested]:
    found = [change for body in play.history for change in codec.decode(body)]
    return [change for change in found if isinstance(change, c.ChildRequested)]


def closed(play: Play, condition: int, flow_id: str, **event: Any) -> list[c.Change]:
    return play.send(
        SubflowClosed(at=play.now, execution_id="A-1", condition=condition, flow_id=flow_id, **event)
    )


@pytest.mark.rule(173)
@pytest.mark.rule(174)
@pytest.mark.rule(176)
def test_accepting_the_wait_asks_for_the_children() -> None:
    play = started(9)
    first, second = requests(play)
    assert (first.flow, first.flow_id, first.input) == ("Child", "SubFlow:f-A-1-0", 10)
    assert (second.flow, second.flow_id, second.has_input) == ("Other", "other-1", False)
    assert first.request_id != second.request_id


@pytest.mark.rule(175)
@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "CANCELED", "TERMINATED"])
def test_a_closed_child_satisfies_the_wait_whatever_its_status(status: str) -> None:
    play = started()
    error = {"type": "force_fail", "message": "no"} if status == "FAILED" else None
    closed(
        play, 0, "SubFlow:f-A-1-0", status=status, outputs=(7,) if status == "COMPLETED" else (), error=error
    )
    play.succeed("A-1")
    result = play.outputs[0]
    assert result["Child"] == {
        "satisfied": True,
        "status": status,
        "outputs": [7] if status == "COMPLETED" else [],
        "output": 7 if status == "COMPLETED" else None,
        "error": error,
        "flow_id": "SubFlow:f-A-1-0",
    }
    assert result["named"]["status"] is None


@pytest.mark.rule(81)
@pytest.mark.rule(179)
def test_a_wait_that_ends_without_its_child_stops_it_if_asked_to() -> None:
    play = started(9)
    play.publish("stop", "now")
    abandoned = [x for x in _last_changes(play) if isinstance(x, c.ChildAbandoned)]
    assert [(x.flow_id, x.stop) for x in abandoned] == [("SubFlow:f-A-1-0", "cancel")]
    play.succeed("A-1")
    assert play.outputs[0]["named"]["status"] == "RUNNING"
    assert closed(play, 0, "SubFlow:f-A-1-0", status="CANCELED") == []


def _last_changes(play: Play) -> list[c.Change]:
    return codec.decode(play.history[-1])


def test_a_child_that_cannot_start_fails_the_wait() -> None:
    play = started()
    play.send(
        SubflowRefused(
            at=play.now,
            execution_id="A-1",
            condition=0,
            flow_id="SubFlow:f-A-1-0",
            message="no flow type Child",
        )
    )
    execution = play.run.executions["A-1"]
    assert execution.has_wait_for_failed
    assert execution.failure is not None
    assert execution.failure.message == "no flow type Child"
    play.publish("stop", "late")
    assert play.unread("stop") == ["late"]


def child_run(status: Status, request_id: str = "other") -> Run:
    return Run(flow_id="other-1", run_id="c", status=status, request_id=request_id)


@pytest.mark.rule(177)
@pytest.mark.rule(178)
@pytest.mark.parametrize(
    ("reuse", "status", "expected"),
    [
        ("restart_if_previous_exits_abnormally", Status.RUNNING, Reuse.ATTACH),
        ("restart_if_previous_exits_abnormally", Status.COMPLETED, Reuse.USE_RESULT),
        ("restart_if_previous_exits_abnormally", Status.FAILED, Reuse.START),
        ("attach", Status.RUNNING, Reuse.ATTACH),
        ("attach", Status.FAILED, Reuse.USE_RESULT),
        ("always_restart", Status.RUNNING, Reuse.TERMINATE_AND_START),
        ("always_restart", Status.COMPLETED, Reuse.START),
    ],
)
def test_the_reuse_policy_decides_over_an_earlier_child(reuse: str, status: Status, expected: Reuse) -> None:
    request = c.ChildRequested("A-1", 0, "Other", "other-1", "mine", reuse)
    assert resolve_reuse(request, child_run(status)) is expected
    assert resolve_reuse(request, None) is Reuse.START


@pytest.mark.rule(176)
def test_a_repeated_request_attaches_whatever_the_policy() -> None:
    request = c.ChildRequested("A-1", 0, "Other", "other-1", "mine", "always_restart")
    assert resolve_reuse(request, child_run(Status.RUNNING, "mine")) is Reuse.ATTACH
    assert resolve_reuse(request, child_run(Status.FAILED, "mine")) is Reuse.USE_RESULT


def test_a_child_tells_its_watchers_how_it_closed() -> None:
    parent, child = started(), Play("flow: Child\nstart: X\nsteps: {X: {graceful_complete: 5}}\n")
    request = requests(parent)[0]
    watcher = watcher_of(parent.run, request)
    assert watcher == Watcher("f", "r", "A-1", 0)
    child.send(WatcherAttached(at=child.now, watcher=watcher))
    assert child.send(WatcherAttached(at=child.now, watcher=watcher)) == []
    child.settle()
    event = closed_event(child.run, child.run.watchers[0])
    assert (event.execution_id, event.status, event.outputs) == ("A-1", "COMPLETED", (5,))


@pytest.mark.rule(162)
def test_a_heartbeat_is_a_checkpoint_for_the_next_attempt() -> None:
    play = Play("flow: F\nstart: A\nsteps: {A: {execute: a, dead_end: true}}\n")
    play.send(Heartbeaten(at=play.now, execution_id="A-1", attempt=1, value=None))
    play.fail("A-1")
    heartbeat = play.run.executions["A-1"].heartbeat
    assert heartbeat is not None
    assert heartbeat.value is None
    assert play.send(Heartbeaten(at=play.now, execution_id="A-1", attempt=1, value=3)) == []


@pytest.mark.rule(128)
@pytest.mark.parametrize(("outputs", "is_error"), [((), False), ((7,), False), ((7, 8), True)])
def test_reading_the_only_output_is_an_error_when_there_are_more(
    outputs: tuple[int, ...], is_error: bool
) -> None:
    play = Play(FLOW.replace('"${wait}"', '"${wait.Child.output}"'), input=1)
    play.settle()
    closed(play, 0, "SubFlow:f-A-1-0", status="COMPLETED", outputs=outputs)
    play.succeed("A-1")
    if is_error:
        assert play.run.error is not None
        assert "output" in play.run.error.message
    else:
        assert play.outputs == [outputs[0] if outputs else None]


@pytest.mark.rule(180)
def test_a_child_may_have_a_timeout_of_its_own() -> None:
    play = Play(FLOW.replace("if_abandoned: cancel}", 'timeout: "${input * 60}"}'), input=2)
    play.settle()
    (request,) = requests(play)
    assert request.timeout == timedelta(minutes=2)
    event = start_of_child(play.run, request, "child", play.now)
    assert (event.timeout, event.watcher, event.request_id) == (
        timedelta(minutes=2),
        Watcher("f", "r", "A-1", 0),
        request.request_id,
    )
