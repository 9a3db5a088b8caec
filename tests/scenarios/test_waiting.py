"""Waits, channels and timers on the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import all_of, any_combination_of, any_of
from orchestrator.core.events import HandlerWait
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit

RACE = """
flow: Race
channels:
  first: {type: string, external: true, leftover: true}
  second: {type: string, external: true, leftover: true}
start: Wait
steps:
  Wait:
    wait_for: {any_of: [{channel: first}, {channel: second}]}
    graceful_complete: ${wait}
"""


def output_of(kit: Kit, flow_id: str = "run-1") -> Any:
    run = kit.client.describe(flow_id)
    assert run["status"] == "COMPLETED", run
    return run["outputs"][0]["output"]


@pytest.mark.rule(79)
@pytest.mark.rule(67)
def test_the_channel_that_had_the_message_is_the_one_satisfied(kit: Kit) -> None:
    kit.client.start(acted(RACE), "run-1")
    kit.settle()
    kit.client.publish("run-1", "second", "here")
    assert output_of(kit) == {
        "first": {"satisfied": False, "messages": [], "message": None},
        "second": {"satisfied": True, "messages": ["here"], "message": "here"},
    }


COMBINED = """
flow: Combined
channels:
  one: {type: integer, external: true, leftover: true}
  two: {type: integer, external: true, leftover: true}
  three: {type: integer, external: true, leftover: true}
start: First
steps:
  First:
    wait_for:
      handler: plan
      conditions:
        late: {timer: 1d}
        a: {channel: one}
        b: {channel: one}
        c: {channel: two}
    execute: act
    result: answers
    go_to: Second
  Second:
    wait_for:
      any_combination_of: [[late, a], [c, a]]
      conditions:
        late: {timer: 1d}
        a: {channel: one}
        c: {channel: two}
        d: {channel: three}
    graceful_complete: ${wait}
"""


@pytest.mark.rule(56)
@pytest.mark.rule(65)
@pytest.mark.rule(75)
def test_groups_share_conditions_and_a_malformed_answer_is_asked_again(kit: Kit) -> None:
    """The first answer names a condition that is not declared: a failed attempt, no more."""

    def plan(ctx: Any, _: Any) -> HandlerWait:
        if ctx.attempt == 1:
            return HandlerWait("any_combination_of", (("late", "nothing"),))
        return any_combination_of(["late", "a", "b"], ["late", "a", "c"])

    acting.doings["First/wait_for"] = plan
    acting.doings["First"] = lambda ctx, _: acting.calls.append(
        str(ctx.wait["a"].messages + ctx.wait["b"].messages)
    )
    kit.client.start(acted(COMBINED), "run-1", delay=1)
    for number in (1, 2, 3):
        kit.client.publish("run-1", "one", number)
    kit.pass_time(seconds=1)
    assert kit.client.describe("run-1")["active"][0]["last_failure"]["type"] == "InvalidWait"
    kit.pass_time(seconds=1)
    assert kit.phases() == {"First-1": "waiting"}
    kit.pass_time(days=1)
    assert "[1, 2]" in acting.calls
    assert kit.phases() == {"Second-1": "waiting"}
    kit.client.publish("run-1", "three", 9)
    kit.client.publish("run-1", "two", 8)
    result = output_of(kit)
    assert (result["a"]["message"], result["c"]["message"]) == (3, 8)
    assert (result["late"]["fired"], result["d"]["satisfied"]) == (False, False)
    assert kit.client.describe("run-1")["channels"]["three"]["size"] == 1


@pytest.mark.rule(66)
@pytest.mark.rule(85)
def test_a_timer_round_then_a_message_round(kit: Kit) -> None:
    flow = acted(
        """
        flow: Rounds
        channels: {box: {type: string, external: true}}
        start: Wait
        steps:
          Wait:
            wait_for: {any_of: [{channel: box}, {timer: 10s}]}
            execute: act
            decide:
              - {when: wait.timer.fired, go_to: Wait}
              - {graceful_complete: "${[step.execution_id, wait.box.message]}"}
        """
    )
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.pass_time(seconds=10)
    assert kit.phases() == {"Wait-2": "waiting"}
    kit.pass_time(seconds=9)
    kit.client.publish("run-1", "box", "hello")
    kit.settle()
    assert output_of(kit) == ["Wait-2", "hello"]
    assert acting.calls == ["Wait-1", "Wait-2"]


QUEUED = """
flow: Queued
channels: {{box: {{type: integer, external: true, leftover: true}}}}
start: Wait
steps:
  Wait:
    wait_for: {{{wait}}}
    graceful_complete: ${{wait}}
"""


@pytest.mark.rule(69)
@pytest.mark.rule(70)
@pytest.mark.rule(71)
@pytest.mark.rule(72)
@pytest.mark.rule(73)
@pytest.mark.rule(96)
@pytest.mark.parametrize(
    ("form", "queued", "taken"),
    [
        ("for: 3", 5, 3),
        ("at_least: 1", 4, 4),
        ("at_least: 0", 0, 0),
        ("at_least: 0", 3, 3),
        ("at_most: 3", 0, 0),
        ("at_most: 3", 5, 3),
        ("at_least: 2, at_most: 3", 5, 3),
    ],
)
def test_what_a_wait_takes_of_a_queue_and_what_it_leaves(
    kit: Kit, form: str, queued: int, taken: int
) -> None:
    kit.client.start(acted(QUEUED.format(wait=f"until: {{channel: box, {form}}}")), "run-1", delay=1)
    for number in range(queued):
        kit.client.publish("run-1", "box", number)
    kit.pass_time(seconds=1)
    assert output_of(kit)["box"]["messages"] == list(range(taken))
    left = kit.client.describe("run-1", messages=True)["channels"]["box"]["messages"]
    assert left == list(range(taken, queued))


@pytest.mark.rule(76)
@pytest.mark.rule(75)
@pytest.mark.parametrize(
    ("conditions", "first", "second"),
    [
        ("[{channel: box, for: 2}, {channel: box, for: 2}]", [0, 1], [2, 3]),
        ("[{channel: box, for: 2}, {channel: box, at_least: 0}]", [0, 1], [2, 3]),
        ("[{channel: box, at_least: 0}, {channel: box, for: 2}]", [0, 1], [2, 3]),
    ],
)
def test_two_conditions_on_one_queue(kit: Kit, conditions: str, first: list[int], second: list[int]) -> None:
    kit.client.start(acted(QUEUED.format(wait=f"all_of: {conditions}")), "run-1", delay=1)
    for number in range(4):
        kit.client.publish("run-1", "box", number)
    kit.pass_time(seconds=1)
    output = output_of(kit)
    assert (output["box"]["messages"], output["box_2"]["messages"]) == (first, second)


@pytest.mark.rule(67)
def test_a_condition_that_was_not_reached_takes_nothing(kit: Kit) -> None:
    flow = acted(QUEUED.format(wait="any_of: [{channel: box, for: 3}, {timer: 1m}]"))
    kit.client.start(flow, "run-1")
    kit.client.publish("run-1", "box", 1)
    kit.client.publish("run-1", "box", 2)
    kit.settle()
    kit.pass_time(minutes=1)
    assert output_of(kit)["box"] == {"satisfied": False, "messages": [], "message": None}
    assert kit.client.describe("run-1", messages=True)["channels"]["box"]["messages"] == [1, 2]


@pytest.mark.rule(74)
def test_computed_bounds_that_contradict_fail_the_run_and_name_the_bound(kit: Kit) -> None:
    flow = acted(QUEUED.format(wait='until: {channel: box, at_least: 3, at_most: "${size([1])}"}'))
    run = kit.run(flow)
    assert run["status"] == "FAILED"
    assert "at_most 1 is below at_least 3" in run["error"]["message"]


@pytest.mark.rule(68)
@pytest.mark.rule(80)
def test_everything_is_waited_for_then_two_branches_one_fed_by_the_first(kit: Kit) -> None:
    flow = acted(
        """
        flow: Three
        channels:
          outside: {type: string, external: true}
          inside: string
          handed: string
        start: First
        steps:
          First:
            wait_for:
              publish: {inside: mine}
              all_of: [{timer: 5s}, {channel: outside}, {channel: inside}]
            publish: {handed: "${string(wait.timer.fired) + wait.outside.message + wait.inside.message}"}
            go_to_many: [Second, Third]
          Second:
            wait_for: {until: {channel: handed}}
            execute: act
            dead_end: true
          Third:
            wait_for: {until: {timer: 1s}}
            graceful_complete: done
        """
    )
    acting.doings["Second"] = lambda ctx, _: acting.calls.append(ctx.wait.handed.message)
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.client.publish("run-1", "outside", "theirs")
    assert kit.client.describe("run-1")["channels"]["outside"]["size"] == 1
    kit.pass_time(seconds=5)
    assert acting.calls == ["Second-1", "truetheirsmine"]
    kit.pass_time(seconds=1)
    assert output_of(kit) == "done"


@pytest.mark.rule(91)
def test_a_message_wins_over_a_long_timer_which_is_gone_then(kit: Kit) -> None:
    flow = acted(QUEUED.format(wait="any_of: [{timer: 365d}, {channel: box}]"))
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.client.publish("run-1", "box", 1)
    assert output_of(kit)["timer"] == {"satisfied": False, "fired": False}
    with kit.engine.store.reading() as reading:
        assert not reading.is_busy(kit.clock.now().replace(year=2040))


@pytest.mark.rule(92)
@pytest.mark.rule(95)
def test_four_conditions_of_one_wait_share_a_channel_and_unread_messages_stay_listed(kit: Kit) -> None:
    flow = acted(
        """
        flow: Four
        channels:
          box: {type: integer, external: true, leftover: true}
          ignored: {type: integer, external: true, leftover: true}
        start: Wait
        steps:
          Wait:
            wait_for: {all_of: [{channel: box}, {channel: box}, {channel: box}, {channel: box}]}
            execute: act
            let: {taken: "${[wait.box, wait.box_2, wait.box_3, wait.box_4]}"}
            graceful_complete: ${taken.map(one, one.message)}
        """
    )
    sizes: list[int] = []
    acting.doings["Wait"] = lambda ctx, _: sizes.append(ctx.channels["ignored"].size)
    kit.client.start(flow, "run-1")
    for number in range(10):
        kit.client.publish("run-1", "ignored", number)
    for number in range(5):
        kit.client.publish("run-1", "box", number)
    kit.settle()
    assert output_of(kit) == [0, 1, 2, 3]
    assert sizes == [10]
    channels = kit.client.describe("run-1", messages=True)["channels"]
    assert channels["ignored"]["messages"] == list(range(10))
    assert channels["box"]["messages"] == [4]


@pytest.mark.rule(45)
@pytest.mark.rule(93)
@pytest.mark.rule(120)
def test_branches_talk_through_channels(kit: Kit) -> None:
    """What a wait publishes wakes its sibling; what an Execute publishes wakes the step after that."""
    flow = acted(
        """
        flow: Talk
        channels: {one: integer, two: integer}
        start: Split
        steps:
          Split: {go_to_many: [Listen, Speak]}
          Speak:
            wait_for: {handler: plan, may: {publish: [one]}, conditions: {}}
            execute: {handler: act, may: {publish: [two]}}
            dead_end: true
          Listen:
            wait_for: {until: {channel: one}}
            execute: act
            go_to: Last
          Last:
            wait_for: {until: {channel: two}}
            execute: act
            graceful_complete:
        """
    )
    acting.doings["Speak/wait_for"] = lambda ctx, _: ctx.publish("one", 1)
    acting.doings["Speak"] = lambda ctx, _: ctx.publish("two", 2)
    acting.doings["Listen"] = lambda ctx, _: acting.calls.append(f"heard {ctx.wait.one.message}")
    acting.doings["Last"] = lambda ctx, _: acting.calls.append(f"heard {ctx.wait.two.message}")
    run = kit.run(flow)
    assert (run["status"], run["outputs"]) == ("COMPLETED", [])
    assert [call for call in acting.calls if call.startswith("heard")] == ["heard 1", "heard 2"]


@pytest.mark.rule(129)
def test_a_consumer_completes_only_when_its_queue_is_empty(kit: Kit) -> None:
    """Messages come while it works, the last one in the very commit before it looks."""
    flow = acted(
        """
        flow: Drain
        channels: {box: {type: integer, external: true}}
        start: Take
        steps:
          Take:
            wait_for: {until: {channel: box}}
            execute: act
            force_complete_if_channels_empty:
              channels: [box]
              output: ${step.execution_id}
              otherwise: {go_to: Take}
        """
    )

    def take(ctx: Any, _: Any) -> None:
        acting.calls.append(f"took {ctx.wait.box.message}")
        if ctx.wait.box.message < 3:
            ctx.client.publish(ctx.flow_id, "box", ctx.wait.box.message + 1)

    acting.doings["Take"] = take
    kit.client.start(flow, "run-1")
    kit.client.publish("run-1", "box", 1)
    kit.settle()
    assert output_of(kit) == "Take-3"
    assert [call for call in acting.calls if call.startswith("took")] == ["took 1", "took 2", "took 3"]


@pytest.mark.rule(60)
def test_hundreds_of_waits_hold_no_thread(kit: Kit) -> None:
    flow = acted(QUEUED.format(wait="any_of: [{channel: box}, {timer: 1h}]"))
    quick = acted("flow: Quick\nstart: A\nsteps: {A: {execute: act, graceful_complete: null}}")
    for number in range(100):
        kit.client.start_soon(flow, f"wait-{number}")
    kit.client.start(quick, "quick")
    with kit.working(concurrency=1) as worker:
        worker.run_until_idle()
        assert kit.client.describe("quick")["status"] == "COMPLETED"
        assert kit.client.describe("wait-0")["active"][0]["phase"] == "waiting"
    kit.client.publish("wait-7", "box", 1)
    assert output_of(kit, "wait-7")["box"]["message"] == 1
    kit.pass_time(hours=1)
    assert output_of(kit, "wait-99")["timer"]["fired"] is True


@pytest.mark.rule(84)
@pytest.mark.rule(60)
def test_a_restart_does_not_lengthen_a_timer(kit: Kit) -> None:
    kit.client.start(acted(QUEUED.format(wait="until: {timer: 1h}")), "run-1")
    kit.settle()
    fires_at = kit.client.describe("run-1")["active"][0]["wait"]["until"][0]["fires_at"]
    kit.pass_time(minutes=59)
    assert kit.client.describe("run-1")["active"][0]["wait"]["until"][0]["fires_at"] == fires_at
    kit.pass_time(minutes=1)
    assert output_of(kit)["timer"]["fired"] is True


@pytest.mark.rule(83)
@pytest.mark.rule(78)
def test_what_a_wait_took_stays_with_its_execution_through_retries(kit: Kit) -> None:
    flow = acted(
        """
        flow: Retried
        channels: {box: {type: integer, external: true, leftover: true}}
        start: Split
        steps:
          Split: {go_to_many: [Take, Take]}
          Take:
            wait_for: {until: {channel: box}}
            execute: act
            graceful_complete: ${[step.execution_id, string(wait.box.message)]}
        """
    )

    def take(ctx: Any, _: Any) -> None:
        acting.calls.append(f"{ctx.step_execution_id} has {ctx.wait.box.message}")
        if ctx.attempt == 1:
            raise ValueError("not yet")

    acting.doings["Take"] = take
    kit.client.start(flow, "run-1")
    for number in (1, 2, 3):
        kit.client.publish("run-1", "box", number)
    kit.settle()
    assert kit.client.describe("run-1", messages=True)["channels"]["box"]["messages"] == [3]
    kit.pass_time(seconds=1)
    outputs = sorted(output["output"] for output in kit.client.describe("run-1")["outputs"])
    assert outputs == [["Take-1", "1"], ["Take-2", "2"]]
    assert acting.calls.count("Take-1 has 1") == acting.calls.count("Take-2 has 2") == 2


@pytest.mark.rule(59)
@pytest.mark.rule(82)
@pytest.mark.parametrize("combinator", ["any_of", "all_of"])
def test_a_handler_builds_the_wait_at_run_time(kit: Kit, combinator: str) -> None:
    flow = acted(
        """
        flow: Built
        channels: {a: {type: string, external: true}, b: {type: string, external: true}}
        start: Wait
        steps:
          Wait:
            wait_for: {handler: plan, conditions: {a: {channel: a}, b: {channel: b}, late: {timer: 1m}}}
            execute: act
            graceful_complete: ${result}
        """
    )
    build = any_of if combinator == "any_of" else all_of
    acting.doings["Wait/wait_for"] = lambda ctx, _: build("b", "late")
    acting.doings["Wait"] = lambda ctx, _: [ctx.wait.b.messages, ctx.wait.late.fired, ctx.wait.a.satisfied]
    kit.client.start(flow, "run-1")
    kit.settle()
    kit.client.publish("run-1", "a", "ignored")
    kit.client.publish("run-1", "b", "x")
    kit.settle()
    if combinator == "all_of":
        assert kit.phases() == {"Wait-1": "waiting"}
        kit.pass_time(minutes=1)
    assert output_of(kit) == [["x"], combinator == "all_of", False]


@pytest.mark.rule(51)
def test_messages_that_come_while_a_handler_runs_are_not_in_its_snapshot(kit: Kit) -> None:
    flow = acted(
        """
        flow: Snapshot
        channels: {box: {type: integer, external: true, leftover: true}}
        start: Work
        steps:
          Work: {execute: act, graceful_complete: "${[result, channels.box.size]}"}
        """
    )
    gate = Gate()

    def work(ctx: Any, _: Any) -> int:
        gate.pass_through()
        return int(ctx.channels["box"].size)

    acting.doings["Work"] = work
    kit.client.start(flow, "run-1")
    with kit.working():
        gate.await_arrival()
        kit.client.publish("run-1", "box", 1)
        gate.open()
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["outputs"][0]["output"] == [0, 1]
