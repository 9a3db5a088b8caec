"""Attributes, locals, locks and what handlers see of them, on the real engine."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from orchestrator.errors import InvalidValue, NotFound
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit

STORED = """
flow: Stored
attributes:
  label: {type: string, index: keyword}
  count: {type: integer, index: int, initial: 5}
  ratio: {type: number, index: double}
  tags: {type: list of string, index: keyword_array}
  is_new: {type: boolean, index: bool}
  due_at: {type: {type: string, format: date-time}, index: datetime}
  note: string
  progress: {type: string, map: true}
start: First
steps:
  First:
    wait_for:
      handler: plan
      may: {set: [label, note]}
    execute:
      handler: act
      may: {set: [label, ratio, tags, is_new, due_at, note, progress]}
      loads: [progress]
    go_to: Second
  Second:
    wait_for: {handler: plan}
    execute: {handler: act, loads: [progress]}
    set: {count: "${attributes.count + 1}"}
    graceful_complete: ${attributes}
"""


@pytest.mark.rule(37)
@pytest.mark.rule(47)
@pytest.mark.rule(53)
@pytest.mark.rule(98)
@pytest.mark.rule(99)
@pytest.mark.rule(203)
def test_each_step_sees_exactly_what_is_committed(kit: Kit) -> None:
    seen: list[Any] = []

    def plan_first(ctx: Any, _: Any) -> None:
        seen.append(("wait", ctx.attributes["label"], ctx.attributes["note"]))
        ctx.attributes["label"] = "waited"
        ctx.attributes["note"] = "to be deleted"
        ctx.local["mine"] = 1

    def first(ctx: Any, _: Any) -> None:
        seen.append(("execute", ctx.attributes["label"], ctx.attributes["note"], ctx.local["mine"]))
        ctx.attributes["label"] = "executed"
        ctx.attributes["note"] = None
        ctx.attributes["ratio"] = 0.5
        ctx.attributes["tags"] = ["a", "b"]
        ctx.attributes["is_new"] = True
        ctx.attributes["due_at"] = "2030-06-01T00:00:00Z"
        ctx.attributes["progress"]["payment"] = "done"
        seen.append((ctx.attributes["label"], ctx.attributes["progress"]["payment"]))

    def second(ctx: Any, _: Any) -> None:
        seen.append((ctx.attributes["label"], ctx.attributes["note"], dict(ctx.attributes["progress"])))
        seen.append(ctx.local.get("mine"))

    acting.doings.update({"First/wait_for": plan_first, "First": first, "Second": second})
    kit.client.start(acted(STORED), "run-1", attributes={"label": "initial"})
    kit.settle()
    assert seen == [
        ("wait", "initial", None),
        ("execute", "waited", "to be deleted", 1),
        ("executed", "done"),
        ("executed", None, {"payment": "done"}),
        None,
    ]
    run = kit.client.describe("run-1")
    assert run["attributes"] == {
        "label": "executed",
        "count": 6,
        "ratio": 0.5,
        "tags": ["a", "b"],
        "is_new": True,
        "due_at": "2030-06-01T00:00:00Z",
        "progress": {"payment": "done"},
    }
    assert run["outputs"][0]["output"]["count"] == 5
    for where in (
        "attributes.label == 'executed'",
        "attributes.count > 5",
        "attributes.ratio < 1.0",
        "'a' in attributes.tags",
        "attributes.is_new",
    ):
        assert [head["flow_id"] for head in kit.client.search(where)] == ["run-1"], where
    assert kit.client.search("attributes.label == 'initial'") == []


@pytest.mark.rule(37)
@pytest.mark.rule(101)
def test_attributes_of_a_start_are_checked_and_absent_when_null(kit: Kit) -> None:
    flow = acted(STORED)
    with pytest.raises(NotFound, match="no attribute colour"):
        kit.client.start(flow, "run-1", attributes={"colour": "red"})
    with pytest.raises(InvalidValue, match="attribute count"):
        kit.client.start(flow, "run-1", attributes={"count": "five"})
    kit.client.start(flow, "run-1", attributes={"label": None})
    assert kit.client.describe("run-1")["attributes"] == {"count": 5}


@pytest.mark.rule(48)
@pytest.mark.rule(49)
@pytest.mark.rule(101)
@pytest.mark.rule(114)
def test_a_failed_attempt_leaves_nothing_in_the_run_but_what_it_did_elsewhere(kit: Kit) -> None:
    flow = acted(
        """
        flow: Attempts
        attributes: {n: integer}
        channels: {token: {type: string, leftover: true}}
        start: Work
        steps:
          Work:
            execute: {handler: act, may: {set: [n], publish: [token]}}
            graceful_complete: null
        """
    )
    elsewhere: list[int] = []

    def work(ctx: Any, _: Any) -> None:
        elsewhere.append(ctx.attempt)
        ctx.attributes["n"] = ctx.attempt
        ctx.publish("token", f"attempt {ctx.attempt}")
        ctx.record_event("tried", ctx.attempt)
        if ctx.attempt == 1:
            raise ValueError("after all was done")
        if ctx.attempt == 2:
            ctx.attributes["n"] = "a text"

    acting.doings["Work"] = work
    kit.client.start(flow, "run-1")
    kit.settle()
    run = kit.client.describe("run-1")
    assert (run["attributes"], run["channels"]["token"]["size"]) == ({}, 0)
    kit.pass_time(seconds=1)
    assert kit.client.describe("run-1")["active"][0]["last_failure"]["type"] != "ValueError"
    kit.pass_time(seconds=2)
    run = kit.client.describe("run-1", messages=True)
    assert run["attributes"] == {"n": 3}
    assert run["channels"]["token"]["messages"] == ["attempt 3"]
    assert elsewhere == [1, 2, 3]


@pytest.mark.rule(55)
def test_a_recorded_event_is_in_the_history_and_nowhere_else(kit: Kit) -> None:
    flow = acted("flow: Notes\nstart: A\nsteps: {A: {execute: act, graceful_complete: null}}")
    acting.doings["A"] = lambda ctx, _: ctx.record_event("noted", {"n": 1})
    run = kit.run(flow)
    assert (run["attributes"], run["outputs"]) == ({}, [])
    recorded = [
        change["record"]
        for commit in kit.client.history("run-1")
        for change in commit["changes"]
        if change["change"] == "event_recorded"
    ]
    assert recorded == [{"name": "noted", "value": {"n": 1}}]


COUNTING = """
flow: Counting
attributes: {{total: {{type: integer, initial: 0}}}}
start: Split
steps:
  Split:
    go_to_many: [{{for_each: "${{range(6)}}", as: n, step: Add}}, {{step: Other}}]
  Add:
    execute: {{handler: act, may: {{set: [total]}}{locks}}}
    graceful_complete: null
  Other:
    execute: {{handler: act, may: {{set: [total]}}}}
    graceful_complete: null
"""


def add_one(ctx: Any, _: Any) -> None:
    ctx.attributes["total"] = ctx.attributes["total"] + 1


@pytest.mark.rule(103)
@pytest.mark.rule(104)
def test_under_a_lock_no_update_is_lost(kit: Kit) -> None:
    running = threading.Lock()

    def add(ctx: Any, _: Any) -> None:
        assert running.acquire(blocking=False), "two holders at once"
        add_one(ctx, _)
        running.release()

    acting.doings["Add"] = add
    kit.client.start(acted(COUNTING.format(locks=", locks: [total]")), "run-1")
    kit.settle(concurrency=4)
    run = kit.client.describe("run-1")
    assert (run["status"], run["attributes"]) == ("COMPLETED", {"total": 6})


@pytest.mark.rule(51)
@pytest.mark.rule(106)
def test_who_declares_no_lock_writes_over_what_a_holder_wrote(kit: Kit) -> None:
    """Other reads 0, a holder of the lock adds one meanwhile, Other writes 1: one update is lost."""
    gate, added = Gate(), threading.Event()

    def other(ctx: Any, _: Any) -> None:
        value = ctx.attributes["total"]
        gate.pass_through()
        ctx.attributes["total"] = value + 100

    acting.doings.update({"Add": add_one, "Other": other})
    flow = acted(COUNTING.format(locks=", locks: [total]"))
    kit.client.start(flow, "run-1")
    with kit.working(concurrency=3):
        gate.await_arrival()
        is_alone = threading.Event()
        with kit.engine.waiting.waiter(
            "run-1", lambda entry: set(entry.run.executions) == {"Other-1"}, is_alone
        ):
            if set(kit.phases()) != {"Other-1"}:
                assert is_alone.wait(PATIENCE)
        assert kit.client.describe("run-1")["attributes"] == {"total": 6}
        added.set()
        gate.open()
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["attributes"] == {"total": 100}


@pytest.mark.rule(52)
@pytest.mark.rule(54)
def test_each_attempt_sees_the_state_of_its_own_hand_out(kit: Kit) -> None:
    flow = acted(
        """
        flow: Fresh
        attributes: {n: {type: integer, initial: 0}}
        channels: {box: {type: integer, external: true}}
        start: Split
        steps:
          Split: {go_to_many: [Work, Listen]}
          Work: {execute: act, graceful_complete: "${result}"}
          Listen: {wait_for: {until: {channel: box}}, set: {n: "${wait.box.message}"}, dead_end: true}
        """
    )
    seen: list[Any] = []

    def work(ctx: Any, _: Any) -> list[Any]:
        seen.append((ctx.attempt, ctx.attributes["n"], ctx.first_attempt_at))
        if ctx.attempt < 3:
            raise ValueError("not yet")
        return [ctx.attempt, ctx.attributes["n"]]

    acting.doings["Work"] = work
    kit.client.start(flow, "run-1")
    begun_at = kit.clock.now()
    kit.settle()
    kit.client.publish("run-1", "box", 7)
    kit.pass_time(seconds=1)
    kit.pass_time(seconds=2)
    assert [(attempt, n) for attempt, n, _ in seen] == [(1, 0), (2, 7), (3, 7)]
    assert [at for _, _, at in seen[1:]] == [begun_at, begun_at]
    assert kit.client.describe("run-1")["outputs"][0]["output"] == [3, 7]


@pytest.mark.rule(105)
def test_a_lock_is_free_between_wait_and_execute_and_between_steps(kit: Kit) -> None:
    flow = acted(
        """
        flow: Between
        attributes: {n: {type: integer, initial: 0}}
        channels: {go: {type: string, external: true}}
        start: Split
        steps:
          Split: {go_to_many: [Long, Short]}
          Long:
            wait_for: {handler: plan, conditions: {go: {channel: go}}, locks: [n]}
            execute: {handler: act, locks: [n]}
            graceful_complete: null
          Short:
            wait_for: {until: {timer: 1s}}
            execute: {handler: act, locks: [n]}
            graceful_complete: null
        """
    )
    from orchestrator import until

    acting.doings["Long/wait_for"] = lambda ctx, _: until("go")
    kit.client.start(flow, "run-1")
    kit.settle()
    assert kit.phases()["Long-1"] == "waiting"
    kit.pass_time(seconds=1)
    assert acting.call_count("Short-1") == 1
    assert kit.phases() == {"Long-1": "waiting"}
    kit.client.publish("run-1", "go", "x")
    kit.settle()
    assert kit.client.describe("run-1")["status"] == "COMPLETED"


@pytest.mark.rule(108)
def test_an_empty_key_locks_nothing_and_fails_the_step(kit: Kit) -> None:
    flow = acted(
        """
        flow: Empty
        attributes: {m: {type: string, map: true}}
        start: A
        steps:
          A: {execute: {handler: act, locks: [{m: "${run.flow_id.substring(5)}"}]}, graceful_complete: null}
        """
    )
    run = kit.run(flow)
    assert run["status"] == "FAILED"
    assert "must not be empty" in run["error"]["message"]
    assert acting.calls == []


@pytest.mark.rule(101)
def test_large_values_come_back_whole(kit: Kit) -> None:
    flow = acted(
        """
        flow: Large
        input: string
        attributes: {big: {type: string, map: true}}
        start: A
        steps:
          A:
            input: string
            set: [{attribute: big, key: "${string(n)}", value: "${input}", for_each: "${range(5)}", as: n}]
            go_to: B
          B: {input: string, execute: act, graceful_complete: "${size(attributes.big['4'])}"}
        """
    )
    run = kit.run(flow, input="x" * 1_000_000)
    assert run["outputs"][0]["output"] == 1_000_000
