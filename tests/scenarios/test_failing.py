"""Failures, retries, time limits and recovery on the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import NonRetryable, RetryAfter
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit

RECOVERED = """
flow: Recovered
input: string
start: Work
steps:
  Work:
    input: string
    wait_for:
      handler: plan
      retry: {{maximum_attempts: 2}}{wait}
    execute: {{handler: act, retry: {{{retry}}}, timeout: 5s}}
    on_failure: Recover
    graceful_complete: ${{result}}
  Recover:
    input: string
    execute: act
    graceful_complete: ${{[input, failure.type, failure.message, string(failure.attempts), failure.progress]}}
"""


def recovered(retry: str = "maximum_attempts: 2", wait: str = "") -> Any:
    return acted(RECOVERED.format(retry=retry, wait=wait))


def boom(ctx: Any, _: Any) -> Any:
    raise ValueError("boom")


def output_of(kit: Kit) -> Any:
    run = kit.client.describe("run-1")
    assert run["status"] == "COMPLETED", run
    return run["outputs"][0]["output"]


@pytest.mark.rule(150)
@pytest.mark.rule(158)
@pytest.mark.rule(147)
def test_a_wait_that_always_fails_fails_the_run_when_its_budget_is_spent(kit: Kit) -> None:
    acting.doings["Work/wait_for"] = boom
    kit.client.start(recovered(), "run-1", "x")
    kit.settle()
    kit.pass_time(seconds=1)
    run = kit.client.describe("run-1")
    assert (run["status"], run["error"]["type"]) == ("FAILED", "step_failed")
    assert run["error"]["message"] == "Work-1 failed: ValueError: boom"
    assert run["error"]["failure"]["attempts"] == 2
    assert acting.calls == ["Work-1/wait_for", "Work-1/wait_for"]


@pytest.mark.rule(89)
@pytest.mark.rule(150)
def test_a_wait_that_failed_may_proceed_to_execute_once(kit: Kit) -> None:
    def work(ctx: Any, input: Any) -> list[Any]:
        return [input, ctx.wait_for_failed, ctx.failure.message]

    acting.doings.update({"Work/wait_for": boom, "Work": work})
    kit.client.start(recovered(wait="\n      on_failure: proceed"), "run-1", "x")
    kit.settle()
    kit.pass_time(seconds=1)
    assert output_of(kit) == ["x", True, "boom"]
    assert acting.calls == ["Work-1/wait_for", "Work-1/wait_for", "Work-1"]


@pytest.mark.rule(151)
@pytest.mark.rule(153)
@pytest.mark.rule(154)
def test_a_failed_execute_goes_to_its_recovery_step_with_the_same_input(kit: Kit) -> None:
    acting.doings["Work"] = boom
    kit.client.start(recovered(), "run-1", "order")
    kit.settle()
    kit.pass_time(seconds=1)
    assert output_of(kit) == ["order", "ValueError", "boom", "2", "NOT_COMPLETED"]


@pytest.mark.rule(145)
@pytest.mark.rule(151)
def test_a_time_limit_leads_to_recovery_too(kit: Kit) -> None:
    gate = Gate()
    acting.doings["Work"] = lambda ctx, _: gate.pass_through()
    kit.client.start(recovered("maximum_attempts: 1"), "run-1", "order")
    with kit.working():
        gate.await_arrival()
        kit.clock.advance(seconds=5)
        run = kit.client.wait("run-1", timeout=PATIENCE)
        gate.open()
    assert run["outputs"][0]["output"][1:4] == ["Timeout", "not finished within 5 s", "1"]


@pytest.mark.rule(148)
def test_a_handler_chooses_when_it_is_called_again(kit: Kit) -> None:
    def work(ctx: Any, _: Any) -> int:
        if ctx.attempt == 1:
            raise RetryAfter(2)
        return int(ctx.attempt)

    acting.doings["Work"] = work
    kit.client.start(recovered("initial_interval: 10s"), "run-1", "x")
    kit.settle()
    kit.pass_time(seconds=1)
    assert acting.call_count("Work-1") == 1
    kit.pass_time(seconds=1)
    assert output_of(kit) == 2


@pytest.mark.rule(149)
def test_a_failure_for_good_is_not_tried_again(kit: Kit) -> None:
    def work(ctx: Any, _: Any) -> None:
        raise NonRetryable("card expired")

    acting.doings["Work"] = work
    kit.run(recovered("maximum_attempts: 9"), input="x")
    assert output_of(kit)[1:4] == ["NonRetryable", "card expired", "1"]


@pytest.mark.rule(146)
@pytest.mark.rule(164)
def test_intervals_grow_and_the_last_failure_is_shown_meanwhile(kit: Kit) -> None:
    acting.doings["Work"] = boom
    kit.client.start(
        recovered("initial_interval: 1s, maximum_interval: 3s, maximum_attempts: 5"), "run-1", "x"
    )
    kit.settle()
    for attempt, seconds in ((2, 1), (3, 2), (4, 3), (5, 3)):
        (active,) = kit.client.describe("run-1")["active"]
        assert (active["phase"], active["attempt"]) == ("backing_off", attempt)
        assert active["last_failure"] == {"type": "ValueError", "message": "boom"}
        kit.pass_time(seconds=seconds - 0.5)
        assert acting.call_count("Work-1") == attempt - 1
        kit.pass_time(seconds=0.5)
    assert output_of(kit)[3] == "5"


@pytest.mark.rule(147)
def test_a_retry_already_scheduled_runs_after_the_total_duration(kit: Kit) -> None:
    acting.doings["Work"] = boom
    kit.client.start(recovered("initial_interval: 1m, total_duration: 90s"), "run-1", "x")
    kit.settle()
    kit.pass_time(seconds=60)
    (active,) = kit.client.describe("run-1")["active"]
    assert active["attempt"] == 3
    kit.pass_time(seconds=120)
    assert output_of(kit)[3] == "3"


@pytest.mark.rule(155)
def test_recovery_knows_that_a_handler_was_never_called(kit: Kit) -> None:
    """The locks of the method cannot be named: its attempt fails before it is handed out."""
    flow = acted(
        """
        flow: NeverCalled
        attributes: {m: {type: string, map: true}}
        start: Work
        steps:
          Work:
            execute: {handler: act, locks: [{m: "${run.flow_id.substring(5)}"}]}
            on_failure: Recover
            dead_end: true
          Recover: {graceful_complete: "${[failure.progress, failure.message]}"}
        """
    )
    run = kit.run(flow)
    progress, message = run["outputs"][0]["output"]
    assert progress == "NOT_STARTED"
    assert "must not be empty" in message
    assert acting.calls == []


@pytest.mark.rule(118)
@pytest.mark.rule(152)
def test_options_of_a_movement_hold_for_that_execution_only(kit: Kit) -> None:
    flow = acted(
        """
        flow: Options
        start: First
        steps:
          First:
            go_to_many:
              - {step: Second, options: {wait_for: {retry: {maximum_attempts: 2}, on_failure: proceed}}}
              - {step: Third}
          Second:
            wait_for: {handler: plan, retry: {maximum_attempts: 1}}
            execute: act
            decide:
              - {when: wait_for_failed, graceful_complete: proceeded}
              - {force_fail: no}
          Third: {wait_for: {until: {timer: 1m}}, go_to: Second}
        """
    )
    acting.doings["Second/wait_for"] = boom
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.pass_time(seconds=1)
    assert acting.call_count("Second-1/wait_for") == 2
    assert acting.call_count("Second-1") == 1
    kit.pass_time(minutes=1)
    run = kit.client.describe("run-1")
    assert run["status"] == "FAILED"
    assert run["error"]["step_execution_id"] == "Second-2"
    assert acting.call_count("Second-2/wait_for") == 1


@pytest.mark.rule(57)
def test_a_word_that_no_decision_has_fails_the_step_and_names_those_there_are(kit: Kit) -> None:
    from orchestrator import choose

    flow = acted(
        """
        flow: Words
        start: A
        steps:
          A:
            execute: {handler: act, retry: {maximum_attempts: 1}}
            decide:
              - {choice: "left", dead_end: true}
              - {choice: "right", dead_end: true}
        """
    )
    acting.doings["A"] = lambda ctx, _: choose("up")
    run = kit.run(flow)
    assert run["status"] == "FAILED"
    assert "A chose `up`" in run["error"]["message"]
    assert "there are `left`, `right`" in run["error"]["message"]


DEADLINE = """
flow: Deadline
attributes: {note: string}
channels: {go: {type: string, external: true}}
timeout: 1h
start: Wait
steps:
  Wait: {wait_for: {until: {channel: go}}, execute: act, graceful_complete: finished}
  Extra: {wait_for: {until: {timer: 10s}}, graceful_complete: extra}
on_timeout:
  execute: act
  result: word
  decide:
    - {choice: complete, set: {note: timed out}, force_complete: 42}
    - {choice: fail, force_fail: processing deadline reached}
    - {choice: go_on, cancel: [Wait], go_to: Extra}
    - {choice: nothing, dead_end: true}
"""


@pytest.mark.rule(184)
@pytest.mark.rule(185)
@pytest.mark.parametrize(
    ("word", "status", "output"),
    [
        ("complete", "COMPLETED", 42),
        ("fail", "FAILED", None),
        ("go_on", "COMPLETED", "extra"),
        ("nothing", "COMPLETED", "finished"),
    ],
)
def test_the_timeout_handler_may_take_any_decision(kit: Kit, word: str, status: str, output: Any) -> None:
    from orchestrator import choose

    acting.doings["sys:timeout_handler"] = lambda ctx, _: choose(word)
    kit.client.start(acted(DEADLINE), "run-1")
    kit.settle()
    kit.pass_time(hours=1)
    kit.pass_time(seconds=10)
    if word == "nothing":
        kit.client.publish("run-1", "go", "x")
        kit.settle()
    run = kit.client.describe("run-1")
    assert run["status"] == status
    assert (run["outputs"][0]["output"] if run["outputs"] else None) == output
    assert acting.call_count("sys:timeout_handler-1") == 1
    if word == "fail":
        assert run["error"]["message"] == "processing deadline reached"


@pytest.mark.rule(185)
@pytest.mark.rule(186)
def test_completion_ends_the_deadline_idle_or_running(kit: Kit) -> None:
    gate = Gate()
    acting.doings["sys:timeout_handler"] = lambda ctx, _: gate.pass_through()
    flow = acted(DEADLINE)
    kit.client.start(flow, "idle")
    kit.settle()
    kit.client.publish("idle", "go", "x")
    kit.settle()
    assert kit.client.describe("idle")["status"] == "COMPLETED"
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.pass_time(minutes=59)
    kit.clock.advance(minutes=1)
    with kit.working():
        gate.await_arrival()
        kit.client.publish("run-1", "go", "x")
        run = kit.client.wait("run-1", timeout=PATIENCE)
        gate.open()
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "finished")
