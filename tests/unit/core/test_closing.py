"""How runs close, and what is left of them (rules 13-16, 19, 42, 96, 123)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from orchestrator.core.events import ExecuteSucceeded, RetryHastened, TimerSkipped
from orchestrator.core.state import Status
from orchestrator.errors import NotActive, OrchestratorError
from tests.support.play import Play

FLOW = """
flow: Closing
attributes: {n: integer}
channels: {box: {type: integer, external: true, leftover: true}}
start: Split
timeout: {after: 1h, policy: fail}
steps:
  Split:
    go_to_many: [Work, Wait]
  Work:
    execute: {handler: work, retry: {maximum_attempts: 1}}
    decide:
      - {choice: complete, force_complete: done}
      - {choice: fail, force_fail: no}
      - {choice: wrong, set: {n: "${1 / (1 - 1)}"}, dead_end: true}
      - {dead_end: true}
  Wait:
    wait_for: {until: {channel: box, for: 3}}
    dead_end: true
rpcs:
  describe: {returns: "${attributes.n}"}
  note: {set: {n: 1}}
  begin: {go_to: Wait}
"""


def playing() -> Play:
    play = Play(FLOW)
    play.settle()
    play.publish("box", 1, 2)
    return play


def expire(play: Play) -> None:
    play.advance(3600)
    play.settle()


CLOSINGS: list[tuple[Callable[[Play], object], Status, str | None]] = [
    (lambda play: play.succeed("Work-1", choice="complete"), Status.COMPLETED, None),
    (lambda play: play.succeed("Work-1", choice="fail"), Status.FAILED, "force_fail"),
    (lambda play: play.fail("Work-1"), Status.FAILED, "step_failed"),
    (lambda play: play.succeed("Work-1", choice="wrong"), Status.FAILED, "step_failed"),
    (expire, Status.FAILED, "timeout"),
    (lambda play: play.stop("fail"), Status.FAILED, "stopped"),
    (lambda play: play.stop("cancel"), Status.CANCELED, None),
    (lambda play: play.stop("terminate"), Status.TERMINATED, None),
]


@pytest.mark.rule(13)
@pytest.mark.rule(14)
@pytest.mark.rule(15)
@pytest.mark.parametrize(("close", "status", "error"), CLOSINGS)
def test_each_way_to_close_has_its_status_and_error(
    close: Callable[[Play], object], status: Status, error: str | None
) -> None:
    play = playing()
    assert play.run.status is Status.RUNNING
    close(play)
    assert play.run.status is status
    assert play.run.closed_at == play.now
    assert (play.run.error.type if play.run.error else None) == error


@pytest.mark.rule(13)
def test_there_are_five_statuses() -> None:
    assert {status for _, status, _ in CLOSINGS} | {Status.RUNNING} == set(Status)


@pytest.mark.rule(15)
@pytest.mark.rule(16)
def test_nothing_else_closes_a_run() -> None:
    play = Play(FLOW.replace("timeout: {after: 1h, policy: fail}\n", ""))
    play.settle()
    play.succeed("Work-1")
    play.publish("box", 1, 2, 3)
    play.rpc("note")
    play.advance(timedelta(days=3650).total_seconds())
    play.settle()
    assert (play.active, play.run.status) == ([], Status.RUNNING)
    play.rpc("begin")
    play.settle()
    assert play.active == ["Wait-2"]


@pytest.mark.rule(19)
@pytest.mark.rule(123)
@pytest.mark.parametrize(("close", "status", "error"), CLOSINGS)
def test_a_closed_run_has_no_active_step_and_takes_nothing_more(
    close: Callable[[Play], object], status: Status, error: str | None
) -> None:
    play = playing()
    close(play)
    version = play.run.version
    assert play.active == []
    refused: list[Callable[[], object]] = [
        lambda: play.publish("box", 3),
        lambda: play.rpc("note"),
        lambda: play.rpc("begin"),
        play.stop,
        lambda: play.send(TimerSkipped(at=play.now, execution_id="Wait-1")),
        lambda: play.send(RetryHastened(at=play.now, execution_id="Work-1")),
    ]
    for act in refused:
        with pytest.raises(NotActive, match=f"closed: {status}"):
            act()
    assert play.send(ExecuteSucceeded(at=play.now, execution_id="Work-1", attempt=1)) == []
    assert play.run.version == version


@pytest.mark.rule(96)
@pytest.mark.rule(21)
@pytest.mark.parametrize(("close", "status", "error"), CLOSINGS)
def test_messages_and_attributes_stay_readable(
    close: Callable[[Play], object], status: Status, error: str | None
) -> None:
    play = playing()
    play.rpc("note")
    close(play)
    assert play.unread("box") == [1, 2]
    assert play.rpc("describe") == 1


@pytest.mark.rule(42)
def test_without_a_wait_execute_is_due_at_once() -> None:
    play = Play(FLOW)
    play.settle()
    assert play.phase("Work-1") == "execute"
    assert play.run.executions["Work-1"].due_at == play.now


@pytest.mark.rule(19)
def test_the_first_of_two_ends_in_one_commit_counts() -> None:
    """Two branches decide in the commit of one message: the older wait completes, the other never fails."""
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, external: true, leftover: true}}
        start: A
        steps:
          A: {go_to_many: [Completes, Fails]}
          Completes: {wait_for: {until: {channel: c}}, force_complete: done}
          Fails: {wait_for: {until: {channel: c}}, force_fail: no}
        """
    )
    play.settle()
    play.publish("c", 1, 2)
    assert (play.run.status, play.outputs, play.unread("c")) == (Status.COMPLETED, ["done"], [2])


@pytest.mark.rule(19)
@pytest.mark.parametrize("published", ["{c: 1, d: 1}", "{d: 1, c: 1}"])
def test_of_two_waits_on_two_channels_the_older_one_ends_first(published: str) -> None:
    play = Play(
        f"""
        flow: F
        channels: {{c: integer, d: integer}}
        start: A
        steps:
          A: {{go_to_many: [Completes, Fails, Speaks]}}
          Completes: {{wait_for: {{until: {{channel: c}}}}, force_complete: done}}
          Fails: {{wait_for: {{until: {{channel: d}}}}, force_fail: no}}
          Speaks: {{execute: speak, publish: {published}, dead_end: true}}
        """
    )
    play.settle()
    play.succeed("Speaks-1")
    assert (play.run.status, play.outputs) == (Status.COMPLETED, ["done"])


@pytest.mark.rule(39)
def test_what_a_run_does_not_have_is_not_found() -> None:
    play = playing()
    acts: list[Callable[[], object]] = [
        lambda: play.publish("nowhere", 1),
        lambda: play.rpc("nothing"),
        lambda: play.send(TimerSkipped(at=play.now, execution_id="Gone-1")),
        lambda: play.send(RetryHastened(at=play.now, execution_id="Gone-1")),
    ]
    for act in acts:
        with pytest.raises(OrchestratorError) as raised:
            act()
        assert raised.value.type == "not_found"
