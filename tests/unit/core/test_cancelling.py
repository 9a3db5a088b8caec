"""Cancellation and stops (rules 109-112, 131-136, 187-190)."""

from __future__ import annotations

import pytest

from orchestrator.core.events import ExecuteSucceeded
from orchestrator.errors import NotActive
from tests.support.play import Play

FLOW = """
flow: Cancelling
channels: {token: {type: integer, external: true, leftover: true}}
attributes: {late: boolean}
start: Split
steps:
  Split:
    go_to_many: [ParentA, ParentB]
  ParentA:
    go_to_many: [Holder, Waiter, Worker, Winner]
  ParentB:
    go_to_many: [Waiter]
  Holder:
    wait_for: {until: {channel: token, for: 2}}
    execute: hold
    set: {late: true}
    dead_end: true
  Waiter:
    wait_for: {until: {timer: 1h}}
    execute: waited
    dead_end: true
  Worker:
    execute: work
    on_failure: Winner
    set: {late: true}
    dead_end: true
  Winner:
    execute: win
    decide:
      - {choice: all, cancel: [Waiter, Holder, Worker, Winner], go_to: Waiter}
      - {choice: siblings, cancel_siblings: [Waiter, Holder], dead_end: true}
"""


def started() -> Play:
    play = Play(FLOW)
    play.settle()
    play.publish("token", 1, 2, 3)
    assert play.active == ["Holder-1", "Waiter-1", "Waiter-2", "Winner-1", "Worker-1"]
    return play


@pytest.mark.rule(109)
def test_messages_of_a_cancelled_execution_return_to_the_front_in_order() -> None:
    play = started()
    assert play.unread("token") == [3]
    play.succeed("Winner-1", choice="siblings")
    assert play.unread("token") == [1, 2, 3]


@pytest.mark.rule(131)
def test_siblings_are_those_of_the_same_origin_only() -> None:
    play = started()
    play.succeed("Winner-1", choice="siblings")
    assert play.active == ["Waiter-2", "Worker-1"]


@pytest.mark.rule(132)
@pytest.mark.rule(133)
def test_a_decision_cancels_neither_itself_nor_what_it_starts() -> None:
    play = started()
    play.succeed("Winner-1", choice="all")
    assert play.active == ["Waiter-3"]


@pytest.mark.rule(134)
@pytest.mark.rule(110)
def test_the_late_result_of_a_cancelled_execution_is_ignored() -> None:
    play = started()
    play.succeed("Winner-1", choice="all")
    assert play.send(ExecuteSucceeded(at=play.now, execution_id="Worker-1", attempt=1)) == []
    assert play.attributes == {}


@pytest.mark.rule(7)
def test_a_cancelled_execution_keeps_its_number() -> None:
    play = started()
    play.succeed("Winner-1", choice="all")
    assert play.run.counters["Waiter"] == 3


@pytest.mark.rule(135)
def test_a_cancelled_execution_does_not_hold_up_graceful_completion() -> None:
    play = Play(
        """
        flow: F
        start: A
        steps:
          A: {go_to_many: [B, C]}
          B: {wait_for: {until: {timer: 1d}}, execute: b, dead_end: true}
          C: {execute: c, cancel: [B], graceful_complete: done}
        """
    )
    play.settle()
    play.succeed("C-1")
    assert play.run.status == "COMPLETED"


def test_a_cancelled_execution_takes_no_message_published_beside_its_cancel() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, leftover: true}}
        start: A
        steps:
          A: {go_to_many: [B, C]}
          B: {wait_for: {until: {channel: c}}, execute: b, dead_end: true}
          C: {execute: c, publish: {c: 1}, cancel: [B], dead_end: true}
        """
    )
    play.settle()
    play.succeed("C-1")
    assert play.active == []
    assert play.unread("c") == [1]


@pytest.mark.rule(187)
@pytest.mark.rule(189)
@pytest.mark.parametrize(("stop", "status"), [("cancel", "CANCELED"), ("terminate", "TERMINATED")])
def test_stop_closes_the_run_without_error(stop: str, status: str) -> None:
    play = started()
    play.stop(stop)
    assert (play.run.status, play.run.error, play.active) == (status, None, [])


@pytest.mark.rule(188)
@pytest.mark.parametrize(
    ("reason", "message"), [("bad day", "bad day"), (None, "the flow was failed by a client")]
)
def test_stop_by_failing_keeps_the_reason(reason: str | None, message: str) -> None:
    play = started()
    play.stop("fail", reason)
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert (play.run.error.type, play.run.error.message) == ("stopped", message)


@pytest.mark.rule(20)
@pytest.mark.rule(190)
def test_the_first_stop_decides() -> None:
    play = started()
    play.stop("cancel")
    with pytest.raises(NotActive, match="closed"):
        play.stop("terminate")
    assert play.run.status == "CANCELED"
