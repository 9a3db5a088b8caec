"""Starts, flow ids, what clients may ask of runs that are, were, or never were."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core.reuse import ReusePolicy
from orchestrator.errors import (
    AlreadyStarted,
    InvalidValue,
    NotActive,
    NotFound,
    OrchestratorError,
    WaitTimeout,
)
from tests.support import acting
from tests.support.acting import acted
from tests.support.engine_kit import PATIENCE, Gate, Kit

CHAIN = """
flow: Chain
input: integer
output: integer
attributes: {label: string}
channels: {box: {type: integer, external: true, leftover: true}}
start: First
steps:
  First:
    input: integer
    wait_for: {handler: plan}
    execute: act
    result: {name: number, type: integer}
    go_to: {step: Second, input: "${number}"}
  Second:
    input: integer
    wait_for: {handler: plan}
    execute: act
    graceful_complete: ${input}
"""
IDLE = """
flow: Idle
channels: {box: {type: integer, external: true, leftover: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: box, for: 100}}, graceful_complete: null}
"""


@pytest.mark.rule(43)
def test_each_method_is_called_once_with_the_same_input(kit: Kit) -> None:
    inputs: list[int] = []

    def note(ctx: Any, number: int) -> int:
        inputs.append(number)
        return number

    acting.doings.update({"First/wait_for": lambda ctx, number: inputs.append(number), "First": note})
    run = kit.run(acted(CHAIN), input=7)
    assert inputs == [7, 7]
    assert acting.calls == ["First-1/wait_for", "First-1", "Second-1/wait_for", "Second-1"]
    assert run["outputs"] == [{"step": "Second", "step_execution_id": "Second-1", "output": 7}]


@pytest.mark.rule(1)
def test_a_run_keeps_the_definition_it_was_started_with(kit: Kit) -> None:
    """The same flow type, edited meanwhile: its Second is gone, its First does something else."""
    acting.doings["First"] = lambda ctx, number: number
    kit.client.start(acted(CHAIN), "old", 1)
    edited = CHAIN.replace('go_to: {step: Second, input: "${number}"}', "graceful_complete: 99")
    edited = edited[: edited.index("  Second:")]
    kit.client.start(acted(edited), "new", 1)
    kit.settle()
    assert kit.client.describe("old")["outputs"][0]["output"] == 1
    assert kit.client.describe("new")["outputs"][0]["output"] == 99


@pytest.mark.rule(2)
@pytest.mark.rule(24)
@pytest.mark.parametrize("policy", list(ReusePolicy))
def test_no_policy_makes_a_second_active_run(kit: Kit, policy: ReusePolicy) -> None:
    """An id without a run can always start; afterwards the latest run decides, and at most one is active."""
    flow = acted(IDLE)
    for number in range(3):
        if number == 2:
            kit.client.stop("id")
        try:
            kit.client.start(flow, "id", reuse_policy=policy)
        except AlreadyStarted:
            assert number > 0
        with kit.engine.store.reading() as reading:
            heads = [head for run in (1, 2, 3) if (head := reading.find_run(run)) is not None]
        running = [head for head in heads if head.status == "RUNNING"]
        assert len(running) == (0 if policy is ReusePolicy.DISALLOW and number == 2 else 1)
    latest = kit.client.search()
    assert [head["flow_id"] for head in latest] == ["id"]


@pytest.mark.rule(24)
def test_only_the_latest_run_counts(kit: Kit) -> None:
    """Cancelled, then completed: an abnormal end further back allows nothing."""
    flow, policy = acted(IDLE), ReusePolicy.ALLOW_IF_PREVIOUS_EXITS_ABNORMALLY
    kit.client.start(flow, "id")
    kit.client.stop("id")
    kit.client.start(flow, "id", reuse_policy=policy)
    for number in range(100):
        kit.client.publish("id", "box", number)
    kit.settle()
    assert kit.client.describe("id")["status"] == "COMPLETED"
    with pytest.raises(AlreadyStarted, match="is COMPLETED"):
        kit.client.start(flow, "id", reuse_policy=policy)


@pytest.mark.rule(3)
def test_calls_mean_the_latest_run(kit: Kit) -> None:
    flow = acted(IDLE)
    first = kit.client.start(flow, "id")
    kit.client.publish("id", "box", 1)
    kit.client.stop("id")
    second = kit.client.start(flow, "id", reuse_policy="allow_if_no_running")
    assert first.run_id != second.run_id
    kit.client.publish("id", "box", 2)
    described = kit.client.describe("id", messages=True)
    assert described["run_id"] == second.run_id
    assert described["channels"]["box"]["messages"] == [2]
    assert kit.events("id").count("MessagesPublished") == 1


@pytest.mark.rule(8)
@pytest.mark.parametrize("character", ["/", "$", ":"])
def test_a_reserved_character_in_a_flow_id_is_refused_by_name(kit: Kit, character: str) -> None:
    with pytest.raises(InvalidValue, match=f"contains '[{character}]', which is reserved"):
        kit.client.start(acted(IDLE), f"a{character}b")


@pytest.mark.rule(8)
def test_an_empty_flow_id_is_refused(kit: Kit) -> None:
    with pytest.raises(InvalidValue, match="must not be empty"):
        kit.client.start(acted(IDLE), "")
    with pytest.raises(NotFound):
        kit.client.publish("", "box", 1)


@pytest.mark.rule(9)
def test_instances_of_maps_may_have_any_key(kit: Kit) -> None:
    flow = acted(
        """
        flow: Keys
        attributes: {seen: {type: string, map: true}}
        channels: {box: {type: string, map: true, external: true}}
        start: Wait
        steps:
          Wait:
            wait_for: {until: {channel: box, key: "a/b %:$"}}
            set: {seen: {"a/b %:$": "${wait.box.message}", "a%2Fb": other}}
            dead_end: true
        """
    )
    kit.client.start(flow, "run-1")
    kit.client.publish("run-1", "box", "x", key="a%2Fb %:$")
    kit.client.publish("run-1", "box", "y", key="a/b %:$")
    kit.settle()
    run = kit.client.describe("run-1")
    assert run["attributes"] == {"seen": {"a/b %:$": "y", "a%2Fb": "other"}}
    assert run["channels"]["box"]["keys"] == {"a%2Fb %:$": 1}


@pytest.mark.rule(17)
def test_a_step_waits_for_a_worker_and_loses_no_attempt(kit: Kit) -> None:
    acting.doings["First"] = lambda ctx, number: ctx.attempt
    kit.client.start(acted(CHAIN), "run-1", 1)
    kit.clock.advance(days=30)
    assert kit.phases() == {"First-1": "queued"}
    kit.settle()
    assert kit.client.describe("run-1")["outputs"][0]["output"] == 1


@pytest.mark.rule(17)
def test_more_work_than_threads_is_all_done(kit: Kit) -> None:
    acting.doings["First"] = lambda ctx, number: number
    for number in range(20):
        kit.client.start(acted(CHAIN), f"run-{number}", number)
    kit.settle(concurrency=1)
    outputs = [kit.client.describe(f"run-{number}")["outputs"][0]["output"] for number in range(20)]
    assert outputs == list(range(20))
    assert len(acting.calls) == 80


@pytest.mark.rule(18)
def test_what_became_ready_earlier_starts_earlier(kit: Kit) -> None:
    flow = acted("flow: One\nstart: A\nsteps: {A: {execute: act, graceful_complete: null}}")
    acting.doings["A"] = lambda ctx, _: acting.calls.append(ctx.flow_id)
    for number in range(8):
        kit.client.start(flow, f"run-{number}")
        kit.clock.advance(seconds=1)
    kit.settle(concurrency=1)
    assert [call for call in acting.calls if call != "A-1"] == [f"run-{number}" for number in range(8)]


@pytest.mark.rule(22)
@pytest.mark.rule(33)
def test_options_of_a_start_are_those_of_its_first_request(kit: Kit) -> None:
    flow = acted(CHAIN)
    kit.client.start(flow, "run-1", 1, request_id="r", delay=60, attributes={"label": "first"})
    again: dict[str, Any] = {"request_id": "r", "return_existing": True}
    assert not kit.client.start(flow, "run-1", 2, delay=0, attributes={"label": "second"}, **again).is_new
    kit.settle()
    run = kit.client.describe("run-1")
    assert (run["attributes"], run["active"][0]["phase"]) == ({"label": "first"}, "queued")
    assert run["active"][0]["input"] == 1


@pytest.mark.rule(36)
def test_a_delay_holds_back_the_first_step_only(kit: Kit) -> None:
    kit.client.start(acted(IDLE), "run-1", delay=10)
    kit.client.publish("run-1", "box", 1)
    kit.pass_time(seconds=9)
    assert kit.phases() == {"Wait-1": "queued"}
    kit.pass_time(seconds=1)
    assert kit.phases() == {"Wait-1": "waiting"}
    with pytest.raises(InvalidValue, match="negative"):
        kit.client.start(acted(IDLE), "run-2", delay=-1)


@pytest.mark.rule(30)
def test_a_start_without_request_id_is_never_taken_for_a_repetition(kit: Kit) -> None:
    flow = acted(IDLE)
    kit.client.start(flow, "run-1")
    with pytest.raises(AlreadyStarted):
        kit.client.start(flow, "run-1", return_existing=True)


@pytest.mark.rule(34)
@pytest.mark.parametrize("policy", list(ReusePolicy))
@pytest.mark.parametrize("is_closed", [False, True])
def test_repeating_a_request_makes_no_second_run_whatever_the_policy(
    kit: Kit, policy: ReusePolicy, is_closed: bool
) -> None:
    flow = acted(IDLE)
    first = kit.client.start(flow, "run-1", request_id="r")
    if is_closed:
        kit.client.stop("run-1")
    again = kit.client.start(flow, "run-1", request_id="r", return_existing=True, reuse_policy=policy)
    assert (again.run_id, again.is_new) == (first.run_id, False)
    with pytest.raises(AlreadyStarted):
        kit.client.start(flow, "run-1", request_id="r", reuse_policy=policy)
    assert kit.client.describe("run-1")["status"] == ("CANCELED" if is_closed else "RUNNING")


@pytest.mark.rule(35)
def test_of_many_who_start_the_same_id_at_once_one_wins(kit: Kit) -> None:
    flow = acted(IDLE)
    won: list[str] = []
    refused: list[AlreadyStarted] = []

    def start() -> None:
        try:
            won.append(kit.client.start(flow, "run-1").run_id)
        except AlreadyStarted as error:
            refused.append(error)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(refused)) == (1, 7)
    assert kit.client.describe("run-1")["run_id"] == won[0]
    assert {error.data["run_id"] for error in refused} == set(won)


def acts(kit: Kit, flow_id: str) -> list[Callable[[], object]]:
    """What needs an active run."""
    return [
        lambda: kit.client.publish(flow_id, "box", 1),
        lambda: kit.client.stop(flow_id),
    ]


@pytest.mark.rule(39)
@pytest.mark.rule(190)
def test_an_unknown_flow_id_is_not_found_and_a_closed_run_not_active(kit: Kit) -> None:
    looks: list[Callable[[], object]] = [
        lambda: kit.client.describe("never"),
        lambda: kit.client.history("never"),
        lambda: kit.client.explain("never"),
        lambda: kit.client.wait("never", timeout=0),
    ]
    for act in (*acts(kit, "never"), *looks):
        with pytest.raises(NotFound, match="there is no run never"):
            act()
    kit.client.start(acted(IDLE), "closed")
    kit.client.stop("closed")
    for act in acts(kit, "closed"):
        with pytest.raises(NotActive, match="run closed is closed: CANCELED"):
            act()


@pytest.mark.rule(199)
def test_a_wait_that_gave_up_can_be_repeated(kit: Kit) -> None:
    acting.doings["First"] = lambda ctx, number: number
    kit.client.start(acted(CHAIN), "run-1", 3)
    with pytest.raises(WaitTimeout):
        kit.client.wait("run-1", timeout=0)
    assert kit.client.describe("run-1")["status"] == "RUNNING"
    with kit.working():
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert (run["status"], run["outputs"][0]["output"], run["error"]) == ("COMPLETED", 3, None)


@pytest.mark.rule(202)
@pytest.mark.rule(203)
def test_heads_state_and_history_are_separate_reads(kit: Kit) -> None:
    kit.client.start(acted(IDLE), "run-1")
    kit.settle()
    kit.client.publish("run-1", "box", 1)
    (head,) = kit.client.search("flow == 'Idle' && status == 'RUNNING'")
    assert set(head) >= {"flow_id", "run_id", "run_attempt", "flow", "status", "started_at", "closed_at"}
    assert "active" not in head
    state = kit.client.describe("run-1")
    assert [active["step_execution_id"] for active in state["active"]] == ["Wait-1"]
    assert state["active"][0]["wait"]["until"][0]["for"] == 100
    assert state["channels"]["box"]["size"] == 1
    assert "changes" not in state
    events = [commit["event"] for commit in kit.client.history("run-1")]
    assert events == ["RunStarted", "WaitForSucceeded", "MessagesPublished"]


@pytest.mark.rule(112)
@pytest.mark.rule(163)
def test_a_stopped_handler_is_told_and_may_go_on_but_its_result_is_ignored(kit: Kit) -> None:
    flow = acted(
        "flow: One\nattributes: {done: boolean}\nstart: A\n"
        "steps: {A: {execute: act, set: {done: true}, graceful_complete: null}}"
    )
    gate, seen = Gate(), []

    def work(ctx: Any, _: Any) -> None:
        seen.append(ctx.cancelled)
        gate.pass_through()
        seen.append(ctx.cancelled)

    acting.doings["A"] = work
    kit.client.start(flow, "run-1")
    with kit.working():
        gate.await_arrival()
        kit.client.stop("run-1", "terminate")
        gate.open()
    assert seen == [False, True]
    run = kit.client.describe("run-1")
    assert (run["status"], run["attributes"], run["outputs"]) == ("TERMINATED", {}, [])


def test_errors_of_clients_say_their_type() -> None:
    kinds = (AlreadyStarted, InvalidValue, NotActive, NotFound, WaitTimeout)
    assert all(issubclass(kind, OrchestratorError) and kind.type != "internal" for kind in kinds)
