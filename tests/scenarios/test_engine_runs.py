"""Runs from start to end on one worker."""

import pytest

from orchestrator.errors import (
    AlreadyStarted,
    Blocked,
    InvalidValue,
    NotActive,
    NotExternal,
    NotFound,
    UsageError,
    WaitTimeout,
)
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

TWO_STEPS = flow_of(
    """
flow: TwoSteps
handlers: tests.support.engine_handlers
input: integer
output: integer
start: First
steps:
  First: {execute: double, input: integer, go_to: {step: Second, input: "${result}"}}
  Second: {execute: double, input: integer, graceful_complete: "${result}"}
"""
)
APPROVAL = flow_of(
    """
flow: Approval
channels:
  approval: {type: string, external: true}
  internal: string
start: Ask
steps:
  Ask:
    wait_for:
      any_of:
        - {channel: approval}
        - {timer: 30m, id: deadline}
    decide:
      - when: wait.deadline.fired
        graceful_complete: too late
      - graceful_complete: "${wait.approval.message}"
"""
)
GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, graceful_complete: null}
"""
)


def test_a_sequence_runs_to_its_end(kit: Kit) -> None:
    run = kit.run(TWO_STEPS, input=3)
    assert run["status"] == "COMPLETED"
    assert run["outputs"] == [{"step": "Second", "step_execution_id": "Second-1", "output": 12}]
    assert kit.events() == ["RunStarted", "ExecuteSucceeded", "ExecuteSucceeded"]


def test_one_event_is_one_history_row(kit: Kit) -> None:
    kit.run(TWO_STEPS, input=3)
    history = kit.client.history("run-1")
    assert [row["version"] for row in history] == [1, 2, 3]
    assert [row["step_execution_id"] for row in history] == [None, "First-1", "Second-1"]


@pytest.mark.rule(38)
def test_start_does_not_wait_for_steps(kit: Kit) -> None:
    started = kit.client.start(TWO_STEPS, "run-1", 3)
    assert started.is_new
    assert kit.phases() == {"First-1": "queued"}


@pytest.mark.rule(25)
@pytest.mark.rule(29)
def test_a_second_start_is_refused(kit: Kit) -> None:
    kit.client.start(TWO_STEPS, "run-1", 3)
    with pytest.raises(AlreadyStarted, match="run-1 was started before and is RUNNING"):
        kit.client.start(TWO_STEPS, "run-1", 3)


@pytest.mark.rule(31)
@pytest.mark.rule(32)
@pytest.mark.rule(33)
def test_the_same_request_returns_the_existing_run(kit: Kit) -> None:
    first = kit.client.start(TWO_STEPS, "run-1", 3, request_id="r1")
    again = kit.client.start(TWO_STEPS, "run-1", 4, request_id="r1", return_existing=True)
    assert (again.run_id, again.is_new) == (first.run_id, False)
    with pytest.raises(AlreadyStarted):
        kit.client.start(TWO_STEPS, "run-1", 3, request_id="r1")
    with pytest.raises(AlreadyStarted):
        kit.client.start(TWO_STEPS, "run-1", 3, request_id="r2", return_existing=True)


@pytest.mark.rule(26)
def test_a_closed_run_may_be_followed_by_another(kit: Kit) -> None:
    first = kit.run(TWO_STEPS, input=3)
    kit.client.start(TWO_STEPS, "run-1", 4, reuse_policy="allow_if_no_running")
    assert kit.client.describe("run-1")["run_id"] != first["run_id"]
    with pytest.raises(AlreadyStarted):
        kit.client.start(TWO_STEPS, "run-1", 4, reuse_policy="allow_if_no_running")


@pytest.mark.rule(27)
def test_only_an_abnormal_end_may_be_followed(kit: Kit) -> None:
    kit.client.start(TWO_STEPS, "run-1", 3)
    kit.client.stop("run-1")
    policy = "allow_if_previous_exits_abnormally"
    assert kit.client.start(TWO_STEPS, "run-1", 4, reuse_policy=policy).is_new
    with kit.working() as worker:
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"
    with pytest.raises(AlreadyStarted):
        kit.client.start(TWO_STEPS, "run-1", 4, reuse_policy=policy)


@pytest.mark.rule(28)
def test_a_running_one_may_be_terminated_first(kit: Kit) -> None:
    kit.client.start(TWO_STEPS, "run-1", 3)
    kit.client.start(TWO_STEPS, "run-1", 4, reuse_policy="allow_terminate_if_running")
    statuses = [row["status"] for row in kit.client.search()]
    assert statuses == ["RUNNING"]
    with kit.engine.store.reading() as reading:
        first = reading.find_run(1)
    assert first is not None
    assert first.status == "TERMINATED"


@pytest.mark.rule(36)
def test_a_delayed_start_begins_when_its_time_has_come(kit: Kit) -> None:
    kit.client.start(TWO_STEPS, "run-1", 3, delay=60)
    with kit.working() as worker:
        worker.run_until_idle()
        assert kit.phases() == {"First-1": "queued"}
        kit.clock.advance(minutes=1)
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"


def test_a_wrong_input_is_refused_and_leaves_nothing(kit: Kit) -> None:
    with pytest.raises(InvalidValue):
        kit.client.start(TWO_STEPS, "run-1", "three")
    with pytest.raises(NotFound):
        kit.client.describe("run-1")


def test_a_message_satisfies_a_wait(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        assert kit.phases() == {"Ask-1": "waiting"}
        kit.client.publish("run-1", "approval", "yes")
        assert worker.run_until_closed("run-1")["outputs"][0]["output"] == "yes"


@pytest.mark.rule(77)
def test_a_message_sent_before_the_wait_counts(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    kit.client.publish("run-1", "approval", "early")
    with kit.working() as worker:
        assert worker.run_until_closed("run-1")["outputs"][0]["output"] == "early"


@pytest.mark.rule(84)
def test_a_timer_fires_at_its_time(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.clock.advance(minutes=29)
        worker.run_until_idle()
        assert kit.phases() == {"Ask-1": "waiting"}
        kit.clock.advance(minutes=1)
        assert worker.run_until_closed("run-1")["outputs"][0]["output"] == "too late"


def test_a_timer_survives_a_restart(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
    kit.clock.advance(minutes=30)
    with kit.working() as worker:
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"


def test_a_horizon_waits_for_what_is_due_within_it(kit: Kit) -> None:
    """The timer is 30 minutes away: idle for a horizon of 10, busy for one of 40."""
    kit.client.start(APPROVAL, "run-1")
    with kit.working() as worker:
        worker.run_until_idle(horizon=600)
        assert kit.phases() == {"Ask-1": "waiting"}
        with kit.engine.store.reading() as reading:
            assert reading.is_busy(kit.clock.now().replace(minute=40))


def test_publishing_is_refused_by_internal_channels_and_closed_runs(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    with pytest.raises(NotExternal):
        kit.client.publish("run-1", "internal", "x")
    with pytest.raises(InvalidValue):
        kit.client.publish("run-1", "approval", 1)
    with pytest.raises(NotFound):
        kit.client.publish("run-1", "nowhere", "x")
    with pytest.raises(NotFound, match="there is no run other"):
        kit.client.publish("other", "approval", "x")
    kit.client.stop("run-1")
    with pytest.raises(NotActive):
        kit.client.publish("run-1", "approval", "x")
    assert kit.events()[-1] == "StopRequested"


@pytest.mark.rule(187)
def test_stopping_ignores_what_a_running_handler_returns(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working():
        gate.await_arrival()
        kit.client.stop("run-1", reason="enough")
        gate.open()
        assert kit.client.wait("run-1", timeout=PATIENCE)["status"] == "CANCELED"
        assert engine_handlers.has_seen.wait(PATIENCE)
    assert engine_handlers.seen_cancelled == [True]
    assert kit.events()[-1] == "StopRequested"


@pytest.mark.rule(188)
def test_failing_a_run_keeps_the_reason(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    kit.client.stop("run-1", "fail", reason="wrong customer")
    run = kit.client.describe("run-1")
    assert run["status"] == "FAILED"
    assert run["error"]["type"] == "stopped"
    assert run["error"]["message"] == "wrong customer"
    with pytest.raises(UsageError):
        kit.client.stop("run-1", "explode")


@pytest.mark.rule(199)
def test_waiting_for_a_run_has_a_limit(kit: Kit) -> None:
    kit.client.start(APPROVAL, "run-1")
    with pytest.raises(WaitTimeout):
        kit.client.wait("run-1", timeout=0)
    with pytest.raises(NotFound):
        kit.client.wait("other", timeout=0)


def test_a_run_that_only_a_client_can_move_blocks_on_request(kit: Kit) -> None:
    flow = flow_of(
        "flow: Open\nchannels: {go: {type: string, external: true}}\nstart: A\n"
        "steps: {A: {wait_for: {until: {channel: go}}, graceful_complete: null}}"
    )
    kit.client.start(flow, "run-1")
    told = "waiting for the outside: A waits for go, which a client"
    with kit.working() as worker, pytest.raises(Blocked, match=told):
        worker.run_until_closed("run-1", until_blocked=True)


def test_a_run_that_nobody_can_move_is_blocked(kit: Kit) -> None:
    flow = flow_of(
        "flow: Closed\nchannels: {go: string}\nstart: A\n"
        "steps: {A: {wait_for: {until: {channel: go}}, graceful_complete: null}}"
    )
    kit.client.start(flow, "run-1")
    with kit.working() as worker, pytest.raises(Blocked, match=r"stuck.*A-1 waits for 1 message on go"):
        worker.run_until_closed("run-1")


@pytest.mark.rule(16)
def test_a_run_without_active_step_is_blocked(kit: Kit) -> None:
    flow = flow_of("flow: Dead\nstart: A\nsteps: {A: {dead_end: true}}")
    kit.client.start(flow, "run-1")
    with kit.working() as worker, pytest.raises(Blocked, match="no step is active"):
        worker.run_until_closed("run-1")
    assert kit.client.describe("run-1")["status"] == "RUNNING"


def test_runs_are_found_by_an_expression(kit: Kit) -> None:
    kit.client.start(APPROVAL, "a-1")
    kit.client.start(TWO_STEPS, "b-1", 1)
    kit.client.stop("b-1")
    assert [run["flow_id"] for run in kit.client.search()] == ["b-1", "a-1"]
    assert [run["flow_id"] for run in kit.client.search("status == 'RUNNING'")] == ["a-1"]
    assert [run["flow_id"] for run in kit.client.search("'Ask' in steps")] == ["a-1"]
    with pytest.raises(UsageError, match="--where"):
        kit.client.search("status ==")
