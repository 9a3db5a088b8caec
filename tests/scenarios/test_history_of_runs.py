"""What is left to read of a run: which attempt failed, what was open at its end, what a child came to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import Kit

PARALLEL = """
flow: Parallel
attributes: {seen: {type: integer, map: true}}
start: Split
steps:
  Split: {go_to_many: [{for_each: "${range(3)}", as: n, step: Work, input: "${n}"}, Hangs]}
  Work:
    input: integer
    execute: {handler: act, retry: {maximum_attempts: 2}}
    on_failure: Recover
    set: {seen: {"${string(input)}": "${input}"}}
    dead_end: true
  Recover:
    input: integer
    execute: act
    decide:
      - {when: "size(attributes.seen) == 2", force_complete: "${failure.step_execution_id}"}
      - {dead_end: true}
  Hangs: {wait_for: {until: {timer: 365d}}, dead_end: true}
"""


@pytest.mark.rule(164)
@pytest.mark.rule(19)
def test_failures_of_parallel_executions_are_told_apart_and_open_work_is_seen_in_history(kit: Kit) -> None:
    """Work-2 fails twice, the others never; Hangs is still open when the run is completed."""

    def work(ctx: Any, number: int) -> None:
        if number == 1:
            raise ValueError(f"{ctx.step_execution_id}, attempt {ctx.attempt}")

    acting.doings["Work"] = work
    kit.client.start(acted(PARALLEL), "run-1")
    kit.settle()
    active = {each["step_execution_id"]: each for each in kit.client.describe("run-1")["active"]}
    assert sorted(active) == ["Hangs-1", "Work-2"]
    assert active["Work-2"]["last_failure"]["message"] == "Work-2, attempt 1"
    kit.pass_time(seconds=1)
    assert kit.client.describe("run-1")["outputs"][0]["output"] == "Work-2"
    history = kit.client.history("run-1")
    failed = [commit["step_execution_id"] for commit in history if commit["event"] == "ExecuteFailed"]
    assert failed == ["Work-2", "Work-2"]
    changes = [change for commit in history for change in commit["changes"]]
    ended = {change["execution_id"]: change["how"] for change in changes if change["change"] == "step_ended"}
    queued = [
        f"{change['execution']['step']}-{change['execution']['number']}"
        for change in changes
        if change["change"] == "step_queued"
    ]
    assert "Hangs-1" in queued
    assert "Hangs-1" not in ended
    assert (ended["Work-2"], ended["Work-1"]) == ("failed", "completed")
    assert changes[-1]["change"] == "run_closed"


CHILD = """
flow: Slow
channels: {{never: string}}
timeout: {{after: 1d, policy: {policy}}}
start: Wait
steps: {{Wait: {{wait_for: {{until: {{channel: never}}}}, graceful_complete: null}}}}
"""
PARENT = """
flow: Parent
start: Ask
steps:
  Ask:
    wait_for: {until: {subflow: Slow, timeout: 1m}}
    graceful_complete: ${wait.Slow}
"""


@pytest.mark.rule(180)
@pytest.mark.rule(175)
@pytest.mark.parametrize(
    ("policy", "status", "error"), [("fail", "FAILED", "timeout"), ("cancel", "CANCELED", None)]
)
def test_a_parent_learns_that_its_child_was_too_slow(
    kit: Kit, policy: str, status: str, error: str | None
) -> None:
    """The condition's timeout replaces the child's; the child's policy stays."""
    kit.client.start(acted(CHILD.format(policy=policy)), "other")
    kit.client.start(acted(PARENT), "run-1")
    kit.settle()
    assert kit.phases() == {"Ask-1": "waiting"}
    kit.pass_time(seconds=59)
    assert kit.client.describe("SubFlow:run-1-Ask-1-0")["status"] == "RUNNING"
    kit.pass_time(seconds=1)
    result = kit.client.describe("run-1")["outputs"][0]["output"]
    assert (result["status"], result["outputs"]) == (status, [])
    assert (result["error"]["type"] if result["error"] else None) == error
    assert kit.client.describe("other")["status"] == "RUNNING"


@pytest.mark.rule(54)
@pytest.mark.rule(50)
def test_a_handler_knows_its_key_for_other_systems(kit: Kit) -> None:
    keys: list[str] = []

    def work(ctx: Any, _: Any) -> None:
        keys.append(ctx.idempotency_key)
        if len(keys) < 3:
            raise ValueError("again")

    acting.doings["A"] = work
    kit.client.start(acted("flow: F\nstart: A\nsteps: {A: {execute: act, graceful_complete: null}}"), "run-1")
    kit.settle()
    kit.pass_time(seconds=1)
    kit.pass_time(seconds=2)
    assert keys == ["run-1/A-1"] * 3
