"""Flow timeouts (rules 181-186) and timer skips (86-88)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.core.events import DeadlineSkipped, RetryHastened, TimerSkipped
from orchestrator.core.state import TIMEOUT_ID
from orchestrator.errors import InvalidValue, NotFound
from tests.support.play import Play

FLOW = """
flow: Deadline
channels: {go: {type: string, external: true}}
attributes: {status: string}
timeout: {after: 1h, policy: POLICY}
start: Work
steps:
  Work:
    wait_for: {any_of: [{channel: go}, {timer: 2h, id: late}, {timer: 1d, id: never}]}
    execute: {handler: work}
    graceful_complete: "${[wait.late.fired, wait.never.fired]}"
"""
HANDLER = FLOW.replace("POLICY", "handler") + (
    "on_timeout: {set: {status: timed out}, force_fail: processing deadline reached}\n"
)


def playing(text: str, **started: object) -> Play:
    play = Play(text, **started)
    play.settle()
    return play


@pytest.mark.rule(182)
def test_policy_fail_fails_with_the_seconds() -> None:
    play = playing(FLOW.replace("POLICY", "fail"))
    play.advance(3600)
    play.settle()
    assert play.run.error is not None
    assert (play.run.status, play.run.error.type) == ("FAILED", "timeout")
    assert "3600 seconds" in play.run.error.message


@pytest.mark.rule(183)
def test_policy_cancel_cancels_without_error() -> None:
    play = playing(FLOW.replace("POLICY", "cancel"))
    play.advance(3600)
    play.settle()
    assert (play.run.status, play.run.error) == ("CANCELED", None)


@pytest.mark.rule(184)
def test_policy_handler_takes_the_handlers_decision() -> None:
    play = playing(HANDLER)
    play.advance(3600)
    play.settle()
    assert play.run.error is not None
    assert (play.run.error.type, play.run.error.message) == ("force_fail", "processing deadline reached")
    assert play.run.error.step_execution_id == TIMEOUT_ID
    assert play.attributes == {"status": "timed out"}


@pytest.mark.rule(185)
def test_the_deadline_does_not_hold_up_graceful_completion() -> None:
    play = playing(HANDLER)
    play.publish("go", "x")
    play.succeed("Work-1")
    assert play.run.status == "COMPLETED"


@pytest.mark.rule(186)
@pytest.mark.rule(181)
def test_the_deadline_can_be_fired_early_and_a_start_may_set_its_own() -> None:
    play = playing(HANDLER)
    play.send(DeadlineSkipped(at=play.now))
    play.settle()
    assert play.run.status == "FAILED"
    play = playing(HANDLER, timeout=timedelta(seconds=5), timeout_policy="cancel")
    play.advance(5)
    play.settle()
    assert play.run.status == "CANCELED"


@pytest.mark.rule(181)
@pytest.mark.rule(184)
def test_a_policy_without_timeout_or_handler_is_refused() -> None:
    bare = "flow: F\nstart: A\nsteps:\n  A: {execute: a, dead_end: true}\n"
    with pytest.raises(InvalidValue, match="needs a timeout"):
        Play(bare, timeout_policy="fail")
    with pytest.raises(InvalidValue, match="no `on_timeout`"):
        Play(bare, timeout=timedelta(seconds=5), timeout_policy="handler")


def test_spans_of_a_start_end_before_time_does() -> None:
    bare = "flow: F\nstart: A\nsteps:\n  A: {execute: a, dead_end: true}\n"
    for given in ({"timeout": timedelta.max}, {"delay": timedelta.max}):
        with pytest.raises(InvalidValue, match="longer than any time can be"):
            Play(bare, **given)


@pytest.mark.rule(86)
@pytest.mark.rule(87)
@pytest.mark.parametrize("selector", ["late", 0])
def test_a_skipped_timer_counts_as_fired(selector: str | int) -> None:
    play = playing(FLOW.replace("POLICY", "fail"))
    play.send(TimerSkipped(at=play.now, execution_id="Work-1", condition=selector))
    play.succeed("Work-1")
    assert play.outputs == [[True, False]]


@pytest.mark.rule(86)
@pytest.mark.parametrize(
    ("selector", "text"), [("go", "no pending timer"), (7, "no pending"), (None, "several")]
)
def test_a_selector_must_name_one_pending_timer(selector: str | int | None, text: str) -> None:
    play = playing(FLOW.replace("POLICY", "fail"))
    with pytest.raises(InvalidValue, match=text):
        play.send(TimerSkipped(at=play.now, execution_id="Work-1", condition=selector))
    with pytest.raises(NotFound):
        play.send(TimerSkipped(at=play.now, execution_id="Gone-1"))


@pytest.mark.rule(88)
@pytest.mark.parametrize("execution_id", ["Work-1", "Work-2"])
def test_a_skip_before_its_timer_exists_is_remembered(execution_id: str) -> None:
    text = FLOW.replace("POLICY", "fail").replace(
        'graceful_complete: "${[wait.late.fired, wait.never.fired]}"', "go_to: Work"
    )
    play = Play(text)
    play.send(TimerSkipped(at=play.now, execution_id=execution_id, condition="late"))
    play.settle()
    if execution_id == "Work-2":
        assert play.phase("Work-1") == "waiting"
        play.publish("go", "x")
        play.succeed("Work-1")
    assert play.phase(execution_id) == "execute"


def test_a_retry_can_be_made_due_now() -> None:
    play = playing(FLOW.replace("POLICY", "fail"))
    play.publish("go", "x")
    with pytest.raises(InvalidValue, match="not backing off"):
        play.send(RetryHastened(at=play.now, execution_id="Work-1"))
    play.fail("Work-1")
    play.send(RetryHastened(at=play.now, execution_id="Work-1"))
    assert play.run.executions["Work-1"].due_at == play.now
