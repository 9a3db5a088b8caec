"""Retries, failure routes, WaitFor failure (rules 144-158)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.events import ExecuteFailed, ExecuteSucceeded, Failure, Message
from orchestrator.core.retry import interval
from orchestrator.definition.model import RetryPolicy
from tests.support.play import START, Play


@pytest.mark.rule(146)
def test_intervals_grow_by_the_coefficient_up_to_the_maximum() -> None:
    seconds = [interval(RetryPolicy(), attempt).total_seconds() for attempt in (1, 2, 3, 7, 8, 5000)]
    assert seconds == [1, 2, 4, 64, 100, 100]


FAILING = """
flow: Failing
input: string
attributes: {status: string}
channels: {token: {type: string, leftover: true}}
start: Charge
steps:
  Charge:
    execute:
      {handler: charge, retry: {maximum_attempts: 3, non_retryable: [KeyError]}, may: {publish: [token]}}
    on_failure: Refund
    set: {status: charged}
    dead_end: true
  Refund:
    input: string
    execute: refund
    graceful_complete: "${failure}"
"""


@pytest.mark.rule(48)
def test_a_failed_attempt_leaves_no_trace_and_is_tried_again() -> None:
    play = Play(FAILING, input="order")
    play.fail("Charge-1")
    execution = play.run.executions["Charge-1"]
    assert (execution.attempt, execution.due_at) == (2, START + timedelta(seconds=1))
    assert play.attributes == {}


@pytest.mark.rule(151)
@pytest.mark.rule(152)
@pytest.mark.rule(153)
def test_the_recovery_step_gets_the_same_input_and_learns_the_failure() -> None:
    play = Play(FAILING, input="order")
    for _ in range(3):
        play.fail("Charge-1", message="declined")
    assert play.active == ["Refund-1"]
    refund = play.run.executions["Refund-1"]
    assert (refund.input, refund.origin) == ("order", "Charge-1")
    play.succeed("Refund-1")
    assert play.run.status == "COMPLETED"
    assert play.outputs == [
        {
            "type": "ValueError",
            "message": "declined",
            "attempts": 3,
            "step_execution_id": "Charge-1",
            "progress": "NOT_COMPLETED",
        }
    ]


@pytest.mark.rule(155)
def test_progress_is_not_started_when_no_attempt_ever_ran() -> None:
    play = Play(FAILING, input="order")
    for _ in range(3):
        play.fail("Charge-1", has_started=False)
    failure = play.run.executions["Refund-1"].failure
    assert failure is not None
    assert failure.progress == "NOT_STARTED"


@pytest.mark.rule(155)
def test_progress_is_not_completed_when_any_attempt_may_have_run() -> None:
    play = Play(FAILING, input="order")
    for has_started in (False, True, False):
        play.fail("Charge-1", has_started=has_started)
    failure = play.run.executions["Refund-1"].failure
    assert failure is not None
    assert failure.progress == "NOT_COMPLETED"


@pytest.mark.rule(149)
@pytest.mark.parametrize("failure", [{"is_retryable": False}, {"type": "KeyError"}])
def test_a_non_retryable_failure_skips_the_remaining_retries(failure: dict[str, Any]) -> None:
    play = Play(FAILING, input="order")
    play.fail("Charge-1", **failure)
    assert play.active == ["Refund-1"]


@pytest.mark.rule(148)
def test_retry_after_sets_the_next_interval_only_and_limits_still_apply() -> None:
    play = Play(FAILING, input="order")
    play.fail("Charge-1", retry_after=timedelta(seconds=30))
    assert play.run.executions["Charge-1"].due_at == START + timedelta(seconds=30)
    play.fail("Charge-1")
    assert play.run.executions["Charge-1"].due_at == START + timedelta(seconds=2)
    play.fail("Charge-1", retry_after=timedelta(seconds=1))
    assert play.active == ["Refund-1"]


@pytest.mark.rule(148)
def test_a_retry_after_beyond_all_time_is_as_late_as_can_be() -> None:
    play = Play(FAILING, input="order")
    play.fail("Charge-1", retry_after=timedelta.max)
    assert (play.run.executions["Charge-1"].attempt, play.phase("Charge-1")) == (2, "execute")


@pytest.mark.rule(147)
def test_total_duration_counts_from_the_first_hand_out() -> None:
    play = Play(FAILING.replace("maximum_attempts: 3", "total_duration: 1m"), input="order")
    reason = Failure(type="ValueError", message="late")
    play.advance(59)
    play.send(
        ExecuteFailed(at=play.now, execution_id="Charge-1", attempt=1, failure=reason, started_at=START)
    )
    assert play.active == ["Charge-1"]
    play.advance(1)
    play.send(
        ExecuteFailed(at=play.now, execution_id="Charge-1", attempt=2, failure=reason, started_at=play.now)
    )
    assert play.active == ["Refund-1"]


@pytest.mark.rule(158)
def test_without_a_route_the_run_fails_and_says_who_failed() -> None:
    play = Play(FAILING.replace("    on_failure: Refund\n", ""), input="order")
    play.fail("Charge-1", message="declined", is_retryable=False)
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert play.run.error.type == "step_failed"
    assert play.run.error.failure == {"type": "ValueError", "message": "declined", "attempts": 1}


def test_an_undeclared_publish_of_a_handler_fails_the_attempt() -> None:
    play = Play(FAILING.replace(", may: {publish: [token]}", ""), input="order")
    play.succeed("Charge-1", publishes=(Message("token", "t"),))
    last = play.run.executions["Charge-1"].last_failure
    assert last is not None
    assert last.type == "UndeclaredEffect"
    assert play.unread("token") == []


def test_a_publish_that_strays_from_its_count_fails_the_attempt() -> None:
    play = Play(FAILING.replace("{publish: [token]}", "{publish: {token: 1}}"), input="order")
    play.succeed("Charge-1", publishes=(Message("token", "t"), Message("token", "t")))
    assert play.run.executions["Charge-1"].attempt == 2
    play.succeed("Charge-1", publishes=(Message("token", "t"),))
    assert play.unread("token") == ["t"]
    assert play.attributes == {"status": "charged"}


def test_a_stale_attempt_changes_nothing() -> None:
    play = Play(FAILING, input="order")
    play.fail("Charge-1")
    late = ExecuteSucceeded(at=play.now, execution_id="Charge-1", attempt=1)
    assert play.send(late) == []
    assert play.send(ExecuteSucceeded(at=play.now, execution_id="Gone-1", attempt=1)) == []


ROUTED_EXPRESSION = """
flow: Routed
input: integer
start: A
steps:
  A:
    set: {n: "${10 / input}"}
    on_failure: B
    dead_end: true
  B:
    input: integer
    graceful_complete: "${failure.type}"
attributes: {n: integer}
"""


def test_a_failing_expression_of_a_step_without_handler_takes_the_failure_route() -> None:
    play = Play(ROUTED_EXPRESSION, input=0)
    play.settle()
    assert play.outputs == ["ExpressionFailed"]
    assert play.attributes == {}


WAIT_FAILURE = """
flow: WaitFailure
input: string
attributes: {seen: string}
channels: {token: {type: string, external: true}}
start: A
steps:
  A:
    wait_for:
      handler: build
      conditions: {t: {channel: token}}
      retry: {maximum_attempts: 2}
      on_failure: proceed
      may: {set: [seen]}
    execute: a
    graceful_complete: "${[string(wait_for_failed), failure.message, string(wait.t.satisfied)]}"
"""


@pytest.mark.rule(89)
@pytest.mark.rule(150)
def test_a_wait_failure_that_proceeds_runs_execute_without_results() -> None:
    play = Play(WAIT_FAILURE, input="x")
    play.fail("A-1", message="first")
    assert play.phase("A-1") == "wait_for"
    play.fail("A-1", message="second")
    assert play.phase("A-1") == "execute"
    play.succeed("A-1")
    assert play.outputs == [["true", "second", "false"]]


@pytest.mark.rule(150)
def test_a_wait_failure_fails_the_run_by_default() -> None:
    play = Play(WAIT_FAILURE.replace("      on_failure: proceed\n", ""), input="x")
    play.fail("A-1")
    play.fail("A-1")
    assert play.run.status == "FAILED"


OVERRIDDEN = """
flow: Overridden
start: First
steps:
  First:
    go_to: {step: Second, options: {execute: {retry: {maximum_attempts: 2}}, on_failure: Recover}}
  Second:
    execute: {handler: second, retry: {maximum_attempts: 1}}
    dead_end: true
  Recover:
    graceful_complete: recovered
"""


@pytest.mark.rule(118)
def test_options_of_a_movement_replace_the_steps_own_for_that_execution() -> None:
    play = Play(OVERRIDDEN)
    play.settle()
    play.fail("Second-1")
    assert play.run.executions["Second-1"].attempt == 2
    play.fail("Second-1")
    assert play.outputs == ["recovered"]
