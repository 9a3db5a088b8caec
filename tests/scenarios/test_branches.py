"""Parallel branches, decisions and cancellation on the real engine."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from orchestrator.errors import Blocked
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit


@pytest.mark.rule(117)
@pytest.mark.rule(121)
@pytest.mark.rule(126)
@pytest.mark.rule(44)
def test_a_tree_of_branches_gives_the_output_of_every_leaf(kit: Kit) -> None:
    flow = acted(
        """
        flow: Tree
        output: string
        start: Root
        steps:
          Root: {execute: act, go_to_many: [Left, Right, Leaf]}
          Left: {execute: act, go_to_many: [Leaf, Leaf]}
          Right: {execute: act, go_to_many: [Leaf, Leaf]}
          Leaf: {execute: act, graceful_complete: "${step.execution_id}"}
        """
    )
    run = kit.run(flow)
    assert sorted(output["output"] for output in run["outputs"]) == [f"Leaf-{n}" for n in range(1, 6)]
    assert {output["step"] for output in run["outputs"]} == {"Leaf"}


@pytest.mark.rule(12)
def test_executions_tell_where_they_come_from(kit: Kit) -> None:
    flow = acted(
        """
        flow: Lineage
        start: First
        steps:
          First: {execute: act, go_to: Second}
          Second: {execute: act, go_to_many: [Third, Third]}
          Third:
            execute: {handler: act, retry: {maximum_attempts: 1}}
            on_failure: Recover
            dead_end: true
          Recover: {execute: act, graceful_complete: null}
        """
    )
    origins: dict[str, str] = {}

    def note(ctx: Any, _: Any) -> None:
        origins[ctx.step_execution_id] = ctx.from_step_execution_id
        if ctx.step_execution_id == "Third-2":
            raise ValueError("no")

    acting.doings.update(dict.fromkeys(("First", "Second", "Third", "Recover"), note))
    assert kit.run(flow)["status"] == "COMPLETED"
    assert origins == {
        "First-1": "__start__",
        "Second-1": "First-1",
        "Third-1": "Second-1",
        "Third-2": "Second-1",
        "Recover-1": "Third-2",
    }


@pytest.mark.rule(125)
@pytest.mark.rule(127)
def test_failing_by_decision_leaves_the_reason_and_no_output(kit: Kit) -> None:
    flow = acted(
        """
        flow: Fails
        start: Split
        steps:
          Split: {go_to_many: [Done, Fail]}
          Done: {graceful_complete: lost}
          Fail:
            wait_for: {until: {timer: 1s}}
            force_fail: "no stock for ${run.flow_id}"
        """
    )
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.pass_time(seconds=1)
    run = kit.client.describe("run-1")
    assert (run["status"], run["outputs"]) == ("FAILED", [])
    assert (run["error"]["type"], run["error"]["message"]) == ("force_fail", "no stock for run-1")
    assert run["error"]["step_execution_id"] == "Fail-1"


@pytest.mark.rule(16)
@pytest.mark.rule(120)
def test_dead_ends_leave_the_run_open_until_it_is_stopped(kit: Kit) -> None:
    flow = acted(
        "flow: Dead\nstart: Split\nsteps:\n"
        "  Split: {go_to_many: [End, End, End]}\n  End: {execute: act, dead_end: true}"
    )
    kit.client.start(flow, "run-1")
    kit.settle()
    assert acting.call_count("End-3") == 1
    with kit.working() as worker, pytest.raises(Blocked):
        worker.run_until_closed("run-1")
    kit.clock.advance(days=365)
    kit.client.stop("run-1")
    assert kit.client.describe("run-1")["status"] == "CANCELED"


CANCELLING = """
flow: Cancelling
attributes: {late: string}
channels: {never: string, token: {type: string, external: true, leftover: true}}
start: Root
steps:
  Root: {go_to_many: [ParentA, ParentB]}
  ParentA: {go_to_many: [Waits, Holds, Works, Retries, SiblingWaits, Winner]}
  ParentB: {go_to_many: [SiblingWaits]}
  Waits: {wait_for: {until: {channel: never}}, execute: act, dead_end: true}
  Holds: {wait_for: {until: {channel: token, for: 2}}, execute: {handler: act}, dead_end: true}
  Works:
    execute: {handler: act, may: {set: [late]}}
    on_failure: Recover
    dead_end: true
  Retries: {execute: act, on_failure: Recover, dead_end: true}
  SiblingWaits: {wait_for: {until: {timer: 1h}}, execute: act, dead_end: true}
  Winner:
    wait_for: {until: {timer: 1s}}
    cancel: [Waits, Holds, Works, Retries]
    cancel_siblings: [SiblingWaits]
    graceful_complete: won
  Recover: {execute: act, dead_end: true}
"""


@pytest.mark.rule(110)
@pytest.mark.rule(131)
@pytest.mark.rule(132)
@pytest.mark.rule(134)
@pytest.mark.rule(135)
@pytest.mark.rule(163)
def test_a_winner_cancels_what_waits_what_backs_off_and_what_runs(kit: Kit) -> None:
    gate, ended = Gate(), threading.Event()

    def work(ctx: Any, _: Any) -> None:
        gate.pass_through()
        acting.calls.append(f"cancelled {ctx.cancelled}")
        ctx.attributes["late"] = "written"
        ended.set()
        raise ValueError("too late to matter")

    def fail(ctx: Any, _: Any) -> None:
        raise ValueError("again")

    acting.doings.update({"Works": work, "Retries": fail})
    kit.client.start(acted(CANCELLING), "run-1", delay=1)
    kit.client.publish("run-1", "token", "a")
    kit.clock.advance(seconds=1)
    with kit.working(concurrency=4):
        gate.await_arrival()
        moved = kit.client.engine.waiting
        has_won = threading.Event()
        with moved.waiter("run-1", lambda entry: "Winner-1" not in entry.run.executions, has_won):
            for _ in range(3):
                kit.clock.advance(seconds=1)
            assert has_won.wait(PATIENCE)
        gate.open()
        assert ended.wait(PATIENCE)
    assert kit.phases() == {"SiblingWaits-2": "waiting"}
    assert "cancelled True" in acting.calls
    assert acting.call_count("Recover-1") == 0
    kit.pass_time(hours=1)
    run = kit.client.describe("run-1")
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "won")
    assert run["attributes"] == {}
    assert run["channels"]["token"]["size"] == 1
    assert (
        acting.call_count("SiblingWaits-1")
        == acting.call_count("Waits-1")
        == acting.call_count("Holds-1")
        == 0
    )


@pytest.mark.rule(7)
@pytest.mark.rule(134)
def test_what_is_cancelled_in_the_queue_never_runs_and_keeps_its_number(kit: Kit) -> None:
    flow = acted(
        """
        flow: Queue
        start: Split
        steps:
          Split: {execute: act, go_to_many: [Stop, Later, Later, Later]}
          Stop: {cancel: [Later], go_to: Later}
          Later: {execute: act, graceful_complete: "${step.execution_id}"}
        """
    )
    kit.client.start(flow, "run-1")
    kit.settle(concurrency=1)
    run = kit.client.describe("run-1")
    assert [output["output"] for output in run["outputs"]][-1] == "Later-4"
    called = [call for call in acting.calls if call.startswith("Later")]
    assert len(called) == len(run["outputs"])


@pytest.mark.rule(109)
@pytest.mark.rule(113)
def test_a_cancelled_hand_off_gives_the_token_to_the_next(kit: Kit) -> None:
    flow = acted(
        """
        flow: Token
        channels: {token: string, stop: {type: string, external: true}}
        start: Open
        steps:
          Open:
            publish: {token: t}
            go_to_many: [Enter, Stop]
          Enter: {wait_for: {until: {channel: token}}, execute: act, go_to: Work}
          Stop:
            wait_for: {until: {channel: stop}}
            cancel: [Enter]
            go_to: Second
          Second:
            wait_for: {until: {channel: token}}
            execute: act
            publish: {token: t}
            graceful_complete: ${wait.token.message}
          Work: {execute: act, publish: {token: t}, dead_end: true}
        """
    )
    gate = Gate()
    acting.doings["Enter"] = lambda ctx, _: gate.pass_through()
    kit.client.start(flow, "run-1")
    with kit.working():
        gate.await_arrival()
        assert kit.client.describe("run-1")["channels"]["token"]["size"] == 0
        kit.client.publish("run-1", "stop", "now")
        run = kit.client.wait("run-1", timeout=PATIENCE)
        gate.open()
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "t")
    assert run["channels"]["token"]["size"] == 1
    assert acting.call_count("Work-1") == 0


@pytest.mark.rule(187)
@pytest.mark.rule(188)
@pytest.mark.rule(189)
@pytest.mark.rule(20)
@pytest.mark.parametrize(
    ("stop", "status"), [("cancel", "CANCELED"), ("fail", "FAILED"), ("terminate", "TERMINATED")]
)
def test_a_stop_closes_at_once_whatever_is_open(kit: Kit, stop: str, status: str) -> None:
    """Something runs, something waits for a timer, something for a message: none of it blocks the end."""
    flow = acted(
        """
        flow: Open
        channels: {never: string}
        start: Split
        steps:
          Split: {go_to_many: [Runs, Sleeps, Listens]}
          Runs: {execute: act, go_to: Next}
          Sleeps: {wait_for: {until: {timer: 1d}}, go_to: Next}
          Listens: {wait_for: {until: {channel: never}}, go_to: Next}
          Next: {execute: act, graceful_complete: null}
        """
    )
    gate = Gate()
    acting.doings["Runs"] = lambda ctx, _: gate.pass_through()
    kit.client.start(flow, "run-1")
    with kit.working():
        gate.await_arrival()
        kit.client.stop("run-1", stop, reason="wrong order")
        run = kit.client.describe("run-1")
        gate.open()
    assert (run["status"], run["active"], run["outputs"]) == (status, [], [])
    assert (run["error"] or {}).get("message") == ("wrong order" if stop == "fail" else None)
    kit.pass_time(days=2)
    assert acting.call_count("Next-1") == 0
    assert kit.client.describe("run-1")["status"] == status


@pytest.mark.rule(137)
@pytest.mark.rule(122)
def test_asked_for_completion_the_run_still_takes_new_work(kit: Kit) -> None:
    flow = acted(
        """
        flow: Late
        channels: {more: {type: string, external: true}}
        start: Split
        steps:
          Split: {go_to_many: [Done, Listen]}
          Done: {graceful_complete: asked}
          Listen:
            wait_for: {any_of: [{channel: more}, {timer: 1h}]}
            decide:
              - {when: wait.timer.fired, dead_end: true}
              - {go_to_many: [Listen, Extra]}
          Extra: {execute: act, graceful_complete: "${step.execution_id}"}
        """
    )
    kit.client.start(flow, "run-1")
    kit.settle()
    for _ in range(2):
        kit.client.publish("run-1", "more", "work")
        kit.settle()
    assert kit.client.describe("run-1")["status"] == "RUNNING"
    kit.pass_time(hours=1)
    run = kit.client.describe("run-1")
    assert run["status"] == "COMPLETED"
    assert sorted(output["output"] for output in run["outputs"]) == ["Extra-1", "Extra-2", "asked"]
