"""What clients do to a run on its way: RPCs, skips, waits for steps and attributes, time travel."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core.travel import Target
from orchestrator.errors import (
    InvalidValue,
    LockConflict,
    NotActive,
    NotFound,
    Rejected,
    UsageError,
    WaitTimeout,
)
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit


def output_of(kit: Kit, flow_id: str = "run-1") -> Any:
    run = kit.client.describe(flow_id)
    assert run["status"] == "COMPLETED", run
    return run["outputs"][0]["output"]


@pytest.mark.rule(11)
@pytest.mark.rule(171)
def test_a_flow_without_start_step_lives_until_an_rpc_starts_one(kit: Kit) -> None:
    flow = acted(
        """
        flow: Created
        steps:
          Work: {input: string, execute: act, graceful_complete: "${[input, result]}"}
        rpcs:
          begin: {input: string, go_to: {step: Work, input: "${input}"}}
        """
    )
    acting.doings["Work"] = lambda ctx, _: ctx.from_step_execution_id
    kit.client.start(flow, "run-1")
    kit.pass_time(days=1)
    assert (acting.calls, kit.client.describe("run-1")["status"]) == ([], "RUNNING")
    kit.client.rpc("run-1", "begin", "x")
    kit.settle()
    assert output_of(kit) == ["x", "__rpc/begin"]
    with pytest.raises(InvalidValue, match="takes no input"):
        kit.client.start(flow, "run-2", "input")


COUNTED = """
flow: Counted
attributes: {total: {type: integer, initial: 0}}
channels: {go: {type: string, external: true}}
start: Split
steps:
  Split:
    go_to_many: [{for_each: "${range(4)}", as: n, step: Add}, Listen]
  Listen: {wait_for: {until: {channel: go}}, dead_end: true}
  Add:
    execute: {handler: act, may: {set: [total]}, locks: [total], loads: []}
    dead_end: true
rpcs:
  bump:
    locks: [total]
    set: {total: "${attributes.total + 1}"}
    go_to: Add
    returns: ${attributes.total}
"""


@pytest.mark.rule(103)
@pytest.mark.rule(107)
@pytest.mark.rule(169)
def test_steps_and_calls_under_one_lock_lose_no_update(kit: Kit) -> None:
    """4 parallel steps, 5 calls that add one and start another step each: 4 + 2 x 5."""

    def add(ctx: Any, _: Any) -> None:
        ctx.attributes["total"] = ctx.attributes["total"] + 1

    acting.doings["Add"] = add
    kit.client.start(acted(COUNTED), "run-1")
    done = 0
    with kit.working(concurrency=3):
        while done < 5:
            with contextlib.suppress(LockConflict):
                kit.client.rpc("run-1", "bump")
                done += 1
    kit.settle()
    assert kit.client.attributes("run-1") == {"total": 14}


@pytest.mark.rule(194)
@pytest.mark.parametrize("reapply", [True, False])
def test_locking_calls_are_done_again_after_a_travel_or_not(kit: Kit, reapply: bool) -> None:
    def add(ctx: Any, _: Any) -> None:
        ctx.attributes["total"] = ctx.attributes["total"] + 1

    acting.doings["Add"] = add
    kit.client.start(acted(COUNTED), "run-1")
    kit.settle()
    for _ in range(3):
        kit.client.rpc("run-1", "bump")
        kit.settle()
    assert kit.client.attributes("run-1") == {"total": 10}
    kit.client.time_travel("run-1", reapply=reapply)
    kit.settle()
    assert kit.client.attributes("run-1") == {"total": 10 if reapply else 4}


@pytest.mark.rule(131)
@pytest.mark.rule(133)
@pytest.mark.rule(171)
def test_a_call_cancels_by_step_but_not_what_it_starts(kit: Kit) -> None:
    flow = acted(
        """
        flow: Called
        channels: {never: string}
        start: Split
        steps:
          Split: {go_to_many: [Waits, Waits]}
          Waits: {wait_for: {until: {channel: never}}, execute: act, dead_end: true}
          Final: {execute: act, graceful_complete: final}
        rpcs:
          finish: {cancel: [Waits, Final], go_to: Final}
        """
    )
    kit.client.start(flow, "run-1")
    kit.settle()
    assert sorted(kit.phases()) == ["Waits-1", "Waits-2"]
    kit.client.rpc("run-1", "finish")
    kit.settle()
    assert output_of(kit) == "final"
    assert acting.calls == ["Final-1"]


@pytest.mark.rule(168)
@pytest.mark.rule(39)
@pytest.mark.rule(19)
def test_calls_of_unknown_and_closed_runs(kit: Kit) -> None:
    flow = acted(
        """
        flow: Read
        attributes: {note: {type: string, initial: kept}}
        channels: {go: {type: string, external: true}}
        start: A
        steps:
          A: {wait_for: {until: {timer: 1h}}, graceful_complete: null}
        rpcs:
          read: {returns: "${attributes.note}"}
          write: {set: {note: changed}}
          refuse: {decide: [{reject: "not today, ${run.flow_id}"}]}
        """
    )
    acts: list[Callable[[str], object]] = [
        lambda flow_id: kit.client.rpc(flow_id, "write"),
        lambda flow_id: kit.client.set_attributes(flow_id, {"note": "x"}),
        lambda flow_id: kit.client.skip_timer(flow_id, "A-1"),
        lambda flow_id: kit.client.retry_now(flow_id, "A-1"),
    ]
    kit.client.start(flow, "run-1")
    with pytest.raises(Rejected, match="not today, run-1"):
        kit.client.rpc("run-1", "refuse")
    kit.client.stop("run-1")
    version = kit.client.history("run-1")[-1]["version"]
    for act in acts:
        with pytest.raises(NotFound):
            act("never")
        with pytest.raises(NotActive):
            act("run-1")
    assert kit.client.rpc("run-1", "read") == "kept"
    assert kit.client.history("run-1")[-1]["version"] == version


SLOW = """
flow: Slow
start: Wait
steps:
  Wait:
    wait_for: {all_of: [{timer: 10s, id: short}, {timer: 1d, id: day}, {timer: 365d, id: year}]}
    graceful_complete: ${wait.day.fired && wait.year.fired}
"""


@pytest.mark.rule(86)
@pytest.mark.rule(87)
@pytest.mark.rule(194)
def test_timers_are_skipped_by_name_and_by_place_and_again_after_a_travel(kit: Kit) -> None:
    kit.client.start(acted(SLOW), "run-1")
    kit.settle()
    kit.client.skip_timer("run-1", "Wait-1", "day")
    kit.client.skip_timer("run-1", "Wait-1", 2)
    timers = kit.client.describe("run-1")["active"][0]["wait"]["all_of"]
    assert [timer.get("has_fired", False) for timer in timers] == [False, True, True]
    for selector in ("nothing", 3, None):
        with pytest.raises(InvalidValue):
            kit.client.skip_timer("run-1", "Wait-1", selector)
    kit.pass_time(seconds=10)
    assert output_of(kit) is True
    kit.client.time_travel("run-1")
    kit.settle()
    kit.pass_time(seconds=10)
    assert output_of(kit) is True


def test_calls_start_shorter_schedules_beside_longer_ones(kit: Kit) -> None:
    flow = acted(
        """
        flow: Schedules
        steps:
          Slow:
            wait_for: {all_of: [{timer: 15s}, {timer: 30s}]}
            execute: act
            dead_end: true
          Timed:
            input: integer
            wait_for: {until: {timer: "${input}"}}
            execute: act
            force_complete: ${input}
        rpcs:
          slow: {go_to: Slow}
          timed: {input: integer, go_to: {step: Timed, input: "${input}"}}
        """
    )
    kit.client.start(flow, "run-1")
    kit.client.rpc("run-1", "slow")
    kit.settle()
    kit.client.rpc("run-1", "timed", 20)
    kit.client.skip_timer("run-1", "Slow-1", 0)
    kit.client.rpc("run-1", "timed", 5)
    kit.settle()
    kit.pass_time(seconds=5)
    assert output_of(kit) == 5
    assert acting.calls == ["Timed-2"]


STEPS = """
flow: Steps
attributes: {stage: {type: string}, count: {type: integer, initial: 0}, m: {type: integer, map: true}}
channels: {go: {type: string, external: true}, never: string}
start: First
steps:
  First: {execute: act, set: {stage: first}, go_to_many: [Second, Never]}
  Second:
    wait_for: {until: {channel: go}}
    execute: act
    set: {stage: second, count: "${attributes.count + 1}", m: {k: 7}}
    decide:
      - {when: wait.go.message == 'stop', cancel: [Never], force_complete: done}
      - {when: wait.go.message == 'cancel', cancel: [Never], go_to: Second}
      - {go_to: Second}
  Never: {wait_for: {until: {channel: never}}, dead_end: true}
"""


@pytest.mark.rule(200)
@pytest.mark.rule(135)
def test_waiting_for_a_step_execution(kit: Kit) -> None:
    kit.client.start(acted(STEPS), "run-1")
    with pytest.raises(WaitTimeout, match="First-1 has ended"):
        kit.client.wait_for_step("run-1", "First", timeout=0)
    kit.settle()
    kit.client.wait_for_step("run-1", "First", timeout=0)
    with pytest.raises(WaitTimeout):
        kit.client.wait_for_step("run-1", "Second", 999, timeout=0)
    for _ in range(2):
        kit.client.publish("run-1", "go", "cancel")
        kit.settle()
    kit.client.wait_for_step("run-1", "Second", 2, timeout=0)
    kit.client.wait_for_step("run-1", "Never", timeout=0)
    with pytest.raises(UsageError, match="numbered from 1"):
        kit.client.wait_for_step("run-1", "Second", -1)
    with pytest.raises(NotFound):
        kit.client.wait_for_step("never", "First", timeout=0)


@pytest.mark.rule(200)
def test_many_may_wait_for_one_step_and_a_closed_run_says_so(kit: Kit) -> None:
    kit.client.start(acted(STEPS), "run-1")
    ended: list[int] = []

    def await_second(number: int) -> None:
        kit.client.wait_for_step("run-1", "Second", timeout=PATIENCE)
        ended.append(number)

    threads = [threading.Thread(target=await_second, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    with kit.working():
        kit.client.publish("run-1", "go", "on")
        for thread in threads:
            thread.join(PATIENCE)
    assert sorted(ended) == [0, 1, 2]
    kit.client.publish("run-1", "go", "stop")
    kit.settle()
    assert kit.client.describe("run-1")["status"] == "COMPLETED"
    with pytest.raises(NotActive):
        kit.client.wait_for_step("run-1", "Second", 9, timeout=0)


@pytest.mark.rule(201)
def test_waiting_for_an_attribute(kit: Kit) -> None:
    kit.client.start(acted(STEPS), "run-1")
    assert kit.client.wait_for_attribute("run-1", "stage", None, timeout=0) is None
    with pytest.raises(WaitTimeout):
        kit.client.wait_for_attribute("run-1", "stage", "second", timeout=0)
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(
            kit.client.wait_for_attribute("run-1", "count", 2, comparison=">=", timeout=PATIENCE)
        )
    )
    thread.start()
    with kit.working():
        for _ in range(2):
            kit.client.publish("run-1", "go", "on")
        thread.join(PATIENCE)
    assert found == [2]
    assert kit.client.wait_for_attribute("run-1", "m", 7, key="k", timeout=0) == 7
    assert kit.client.wait_for_attribute("run-1", "stage", "third", comparison="!=", timeout=0) == "second"
    with pytest.raises(WaitTimeout):
        kit.client.wait_for_attribute("run-1", "m", 3, comparison="<", key="absent", timeout=0)
    with pytest.raises(NotFound):
        kit.client.wait_for_attribute("never", "stage", "x", timeout=0)
    kit.client.stop("run-1")
    with pytest.raises(NotActive):
        kit.client.wait_for_attribute("run-1", "stage", "third", timeout=0)


@pytest.mark.rule(194)
@pytest.mark.rule(98)
def test_attributes_written_by_a_client_are_seen_by_the_next_step(kit: Kit) -> None:
    kit.client.start(acted(STEPS), "run-1")
    kit.settle()
    kit.client.set_attributes("run-1", {"count": 40, "stage": None})
    assert kit.client.attributes("run-1") == {"count": 40}
    with pytest.raises(InvalidValue):
        kit.client.set_attributes("run-1", {"count": "forty", "stage": "kept out"})
    kit.client.publish("run-1", "go", "on")
    kit.settle()
    assert kit.client.attributes("run-1") == {"stage": "second", "count": 41, "m": {"k": 7}}


LOOP = """
flow: Loop
start: First
steps:
  First: {execute: act, go_to: Second}
  Second:
    execute: act
    decide:
      - {when: step.execution_id == 'Second-5', graceful_complete: "${step.execution_id}"}
      - {go_to: Second}
"""


@pytest.mark.rule(191)
@pytest.mark.rule(192)
@pytest.mark.rule(6)
def test_going_back_repeats_what_came_after_and_nothing_before(kit: Kit) -> None:
    kit.run(acted(LOOP))
    assert len(acting.calls) == 6
    kit.client.time_travel("run-1", Target(step="Second"))
    kit.settle()
    assert (len(acting.calls), acting.call_count("First-1")) == (11, 1)
    kit.client.time_travel("run-1", Target(execution_id="Second-4", method="execute"))
    kit.settle()
    assert acting.calls[-2:] == ["Second-4", "Second-5"]
    assert len(acting.calls) == 13
    assert output_of(kit) == "Second-5"
    assert kit.client.describe("run-1")["run_attempt"] == 3


@pytest.mark.rule(123)
def test_a_call_whose_run_closes_meanwhile_is_refused_whole(kit: Kit) -> None:
    """The handler of a plain RPC began before the last step ended: its effects come too late."""
    flow = acted(
        """
        flow: Race
        attributes: {note: string}
        channels: {go: {type: string, external: true}}
        start: A
        steps: {A: {wait_for: {until: {channel: go}}, graceful_complete: done}}
        rpcs: {write: {handler: answer, may: {set: [note]}}}
        """
    )
    gate = Gate()

    def write(ctx: Any, _: Any) -> None:
        ctx.attributes["note"] = "too late"
        gate.pass_through()

    acting.doings["write"] = write
    refused: list[Exception] = []

    def call() -> None:
        try:
            kit.client.rpc("run-1", "write")
        except NotActive as error:
            refused.append(error)

    kit.client.start(flow, "run-1")
    kit.settle()
    thread = threading.Thread(target=call)
    thread.start()
    gate.await_arrival()
    kit.client.publish("run-1", "go", "x")
    assert kit.client.describe("run-1")["status"] == "COMPLETED"
    gate.open()
    thread.join(PATIENCE)
    assert len(refused) == 1
    assert kit.client.attributes("run-1") == {}
