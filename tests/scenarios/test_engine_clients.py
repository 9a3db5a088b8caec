"""What clients do to runs on the engine: timers, retries, attributes, configuration, waits, deadlines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.definition.model import TimeoutPolicy
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.errors import InvalidValue, NotActive, NotFound, UsageError, WaitTimeout
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Kit, flow_of

TIMERS = flow_of(
    """
flow: Timers
output: string
channels: {go: {type: none, external: true}}
start: First
steps:
  First: {wait_for: {until: {channel: go}}, go_to: Second}
  Second:
    wait_for: {any_of: [{timer: 1h, id: soon}, {timer: 2h, id: late}]}
    graceful_complete: "${wait.late.fired ? 'late' : 'soon'}"
"""
)
RETRIED = flow_of(
    """
flow: Retried
handlers: tests.support.engine_handlers
output: string
start: Work
steps:
  Work: {execute: {handler: fail_twice, retry: {initial_interval: 1h}}, graceful_complete: "${result}"}
"""
)
NOTES = flow_of(
    """
flow: Notes
handlers: tests.support.engine_handlers
attributes: {status: {type: string, initial: new}, count: integer, stock: {type: integer, map: true}}
channels: {go: {type: none, external: true}, rooms: {type: string, map: true, external: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: go}}, set: {status: gone, count: 3}, go_to: Read}
  Read: {wait_for: {until: {channel: go}}, graceful_complete: null}
"""
)
DEADLINE = """
flow: Deadline
channels: {never: string}
start: Wait
steps: {Wait: {wait_for: {until: {channel: never}}, dead_end: true}}
"""


def in_background(call: Callable[[], Any]) -> Callable[[], Any]:
    """Begin it; the result gives what it returned, when it has."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(call()), daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(PATIENCE)
        return answers[0]

    return result


@pytest.mark.rule(86)
@pytest.mark.rule(87)
@pytest.mark.parametrize(
    ("selector", "output"), [("late", "late"), (1, "late"), ("soon", "soon"), (0, "soon")]
)
def test_a_timer_is_skipped_by_name_or_position(kit: Kit, selector: str | int, output: str) -> None:
    kit.client.start(TIMERS, "t-1")
    kit.client.publish("t-1", "go")
    with pytest.raises(InvalidValue, match="say which of soon, late"):
        kit.client.skip_timer("t-1", "Second-1")
    kit.client.skip_timer("t-1", "Second-1", selector)
    assert kit.client.describe("t-1")["outputs"][0]["output"] == output


@pytest.mark.rule(88)
def test_a_skip_before_its_timer_is_kept_until_it_appears(kit: Kit) -> None:
    kit.client.start(TIMERS, "t-1")
    kit.client.skip_timer("t-1", "Second-1", "late")
    kit.client.publish("t-1", "go")
    assert kit.client.describe("t-1")["outputs"][0]["output"] == "late"
    with pytest.raises(NotActive):
        kit.client.skip_timer("t-1", "Second-1", "late")


def test_a_retry_is_hastened(kit: Kit) -> None:
    kit.client.start(RETRIED, "t-1")
    with kit.working() as worker:
        for _ in range(2):
            kit.await_phase("backing_off", "t-1")
            kit.client.retry_now("t-1", "Work-1")
        assert worker.run_until_closed("t-1")["outputs"][0]["output"] == "third time"
    assert engine_handlers.calls == {"Work-1": 3}


def test_attributes_are_written_directly(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1")
    kit.client.set_attributes("n-1", {"status": None, "count": 2, "stock": {"nut": 1, "bolt": 2}})
    kit.client.set_attributes("n-1", {"stock": {"nut": None}})
    assert kit.client.attributes("n-1") == {"count": 2, "stock": {"bolt": 2}}
    assert kit.client.attribute("n-1", "stock", key="bolt") == 2
    assert kit.client.attribute("n-1", "status") is None
    with pytest.raises(InvalidValue):
        kit.client.set_attributes("n-1", {"count": "two"})
    with pytest.raises(NotFound):
        kit.client.attribute("n-1", "state")


@pytest.mark.rule(194)
def test_direct_writes_are_done_again_after_time_travel(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1")
    kit.client.set_attributes("n-1", {"count": 9})
    kit.client.time_travel("n-1")
    assert kit.client.attribute("n-1", "count") == 9
    kit.client.time_travel("n-1", reapply=False)
    assert kit.client.attribute("n-1", "count") is None


@pytest.mark.rule(200)
@pytest.mark.rule(135)
def test_waiting_for_a_step(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1")
    with pytest.raises(WaitTimeout):
        kit.client.wait_for_step("n-1", "Wait", timeout=0)
    ended = in_background(lambda: kit.client.wait_for_step("n-1", "Wait", timeout=PATIENCE))
    kit.client.publish("n-1", "go")
    assert ended() is None
    kit.client.wait_for_step("n-1", "Wait")
    kit.client.stop("n-1")
    kit.client.wait_for_step("n-1", "Read")
    with pytest.raises(NotActive, match="without: Read-2 has ended"):
        kit.client.wait_for_step("n-1", "Read", 2)
    with pytest.raises(NotFound, match="no step Reed"):
        kit.client.wait_for_step("n-1", "Reed")
    with pytest.raises(UsageError):
        kit.client.wait_for_step("n-1", "Read", 0)


@pytest.mark.rule(201)
@pytest.mark.parametrize(
    ("comparison", "value", "holds"),
    [
        ("==", 3, True),
        ("!=", 4, True),
        ("<", 4, True),
        ("<=", 3.0, True),
        (">", 2.5, True),
        (">=", 3, True),
        ("!=", None, True),
        ("==", None, False),
        ("==", True, False),
        ("<", "4", False),
        (">", 3, False),
    ],
)
def test_attributes_are_compared_as_json(kit: Kit, comparison: str, value: Any, holds: bool) -> None:
    kit.client.start(NOTES, "n-1")
    kit.client.set_attributes("n-1", {"count": 3})

    def wait() -> Any:
        return kit.client.wait_for_attribute("n-1", "count", value, comparison=comparison, timeout=0)

    if holds:
        assert wait() == 3
    else:
        with pytest.raises(WaitTimeout):
            wait()


@pytest.mark.rule(201)
def test_waiting_for_an_attribute(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1")
    for comparison in ("!=", "<", ">", "=="):
        with pytest.raises(WaitTimeout):  # one that is not there matches nothing
            kit.client.wait_for_attribute("n-1", "count", 1, comparison=comparison, timeout=0)
    assert kit.client.wait_for_attribute("n-1", "count", None) is None
    found = in_background(lambda: kit.client.wait_for_attribute("n-1", "status", "gone", timeout=PATIENCE))
    kit.client.publish("n-1", "go")
    assert found() == "gone"
    kit.client.stop("n-1")
    assert kit.client.wait_for_attribute("n-1", "status", "gone") == "gone"
    with pytest.raises(NotActive):
        kit.client.wait_for_attribute("n-1", "status", "new")
    with pytest.raises(UsageError, match="compares nothing"):
        kit.client.wait_for_attribute("n-1", "status", "new", comparison="~")


def test_what_another_process_commits_ends_a_wait(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1")
    elsewhere = Engine(kit.path)
    found = in_background(
        lambda: Client(elsewhere).wait_for_attribute("n-1", "stock", 2, key="nut", timeout=PATIENCE)
    )
    kit.client.set_attributes("n-1", {"stock": {"nut": 2}})
    assert found() == 2
    elsewhere.close()


@pytest.mark.rule(22)
@pytest.mark.rule(181)
@pytest.mark.parametrize(
    ("policy", "status"),
    [(None, "FAILED"), ("fail", "FAILED"), (TimeoutPolicy.CANCEL, "CANCELED")],
)
def test_a_start_has_a_timeout_of_its_own(kit: Kit, policy: Any, status: str) -> None:
    kit.client.start(flow_of(DEADLINE), "d-1", timeout=60, timeout_policy=policy)
    described = kit.client.describe("d-1")
    assert described["deadline_at"] == "2030-01-01T00:01:00Z"
    assert [each["step"] for each in described["active"]] == ["Wait"]
    with kit.working():
        kit.clock.advance(seconds=60)
        closed = kit.client.wait("d-1", timeout=PATIENCE)
    assert (closed["status"], closed["deadline_at"]) == (status, None)


@pytest.mark.rule(186)
def test_a_deadline_is_skipped(kit: Kit) -> None:
    kit.client.start(flow_of(DEADLINE), "d-1", timeout=60)
    kit.client.skip_deadline("d-1")
    assert kit.client.describe("d-1")["error"]["type"] == "timeout"


def test_timeouts_that_make_no_sense(kit: Kit) -> None:
    flow = flow_of(DEADLINE)
    with pytest.raises(UsageError, match="no timeout policy"):
        kit.client.start(flow, "d-1", timeout=1, timeout_policy="explode")
    with pytest.raises(InvalidValue, match="needs a timeout"):
        kit.client.start(flow, "d-1", timeout_policy="fail")
    with pytest.raises(InvalidValue, match="cannot be `handler`"):
        kit.client.start(flow, "d-1", timeout=1, timeout_policy="handler")


@pytest.mark.rule(22)
@pytest.mark.rule(23)
def test_the_configuration_of_a_run(kit: Kit) -> None:
    kit.client.start(NOTES, "n-1", config={"durability": "async"})
    assert kit.client.describe("n-1")["config"] == {"durability": "async"}
    kit.client.update_config("n-1", {"durability": "sync"})
    assert kit.client.describe("n-1")["config"] == {"durability": "sync"}
    with pytest.raises(NotFound):
        kit.client.update_config("n-1", {"speed": "high"})


@pytest.mark.rule(102)
def test_messages_of_a_channel_map_are_loaded_by_instance_or_all(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Rooms
handlers: tests.support.engine_handlers
channels: {rooms: {type: string, map: true, external: true, leftover: true}}
output: any
rpcs:
  one: {handler: "tests.support.engine_handlers:read_rooms", loads: [{channel: rooms, key: blue}]}
  all: {handler: "tests.support.engine_handlers:read_rooms", loads: [{channel: rooms}]}
"""
    )
    kit.client.start(flow, "r-1")
    for room, guest in (("blue", "a"), ("green", "b"), ("blue", "c")):
        kit.client.publish("r-1", "rooms", guest, key=room)
    assert kit.client.rpc("r-1", "one") == [["a", "c"], "not loaded", "not loaded"]
    assert kit.client.rpc("r-1", "all") == [["a", "c"], ["b"], []]


def test_a_client_is_awaited_without_a_pool_that_fills_up(kit: Kit) -> None:
    """Fifty coroutines wait for what the fifty-first does."""

    async def wait_and_go() -> list[Any]:
        aio = kit.client.aio
        await aio.start(NOTES, "n-1")
        waits = [
            asyncio.create_task(aio.wait_for_attribute("n-1", "status", "gone", timeout=PATIENCE))
            for _ in range(50)
        ]
        await asyncio.sleep(0)
        await aio.publish("n-1", "go")
        return await asyncio.gather(*waits)

    assert asyncio.run(wait_and_go()) == ["gone"] * 50


@pytest.mark.rule(100)
@pytest.mark.rule(203)
def test_runs_are_found_by_what_is_indexed(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Indexed
attributes:
  city: {type: string, index: keyword}
  total: {type: integer, index: {type: int, key: OrderTotal}}
  parts: {type: string, map: true, index: {type: keyword, key: LatestPart}}
  secret: string
channels: {never: string}
start: Wait
steps: {Wait: {wait_for: {until: {channel: never}}, dead_end: true}}
"""
    )
    kit.client.start(flow, "i-1", attributes={"city": "Bern", "total": 5, "secret": "x"})
    kit.client.start(flow, "i-2", attributes={"city": "Rome", "total": 7})
    for value in ("nut", "bolt"):
        kit.client.set_attributes("i-1", {"parts": {value: value}})
    kit.client.set_attributes("i-1", {"parts": {"nut": "nut"}})
    kit.client.stop("i-2")

    def found(where: str) -> list[str]:
        return sorted(str(run["flow_id"]) for run in kit.client.search(where))

    assert found('attributes.city == "Bern"') == ["i-1"]
    assert found("attributes.OrderTotal > 4") == ["i-1", "i-2"]
    assert found('attributes.LatestPart == "nut"') == ["i-1"]
    assert found('attributes.LatestPart == "bolt"') == []
    assert found('attributes.secret == "x"') == []
    assert found('"Wait" in steps') == ["i-1"]
    assert found('status == "CANCELED" && flow == "Indexed"') == ["i-2"]
