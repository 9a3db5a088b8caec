"""Heartbeats: checkpoints for the next attempt, and a silence that ends an attempt early (rules 162, 163)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from tests.support import rpc_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

WORK = """
flow: Work
handlers: tests.support.rpc_handlers
output: any
start: Work
steps:
  Work:
    execute: {handler: %s, timeout: 1h, heartbeat: 10s, retry: {initial_interval: 1ms, maximum_attempts: 3}}
    graceful_complete: "${result}"
"""
CRUNCH = flow_of(
    """
flow: Crunch
handlers: tests.support.rpc_handlers
input: integer
output: list of integer
start: Crunch
steps:
  Crunch:
    input: integer
    execute: {handler: crunch, retry: {initial_interval: 1ms}}
    graceful_complete: "${result}"
"""
)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    rpc_handlers.reset()
    yield
    rpc_handlers.reset()


@pytest.mark.rule(162)
def test_the_next_attempt_goes_on_from_the_last_heartbeat(kit: Kit) -> None:
    kit.client.start(CRUNCH, "w-1", 6)
    with kit.working() as worker:
        kit.await_phase("backing_off", "w-1")
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("w-1")
    assert run["outputs"][0]["output"] == [3, 6]


@pytest.mark.rule(162)
def test_a_null_that_was_sent_is_not_none_sent(kit: Kit) -> None:
    kit.client.start(flow_of(WORK % "say_null"), "w-1")
    with kit.working() as worker:
        kit.await_phase("backing_off", "w-1")
        kit.clock.advance(seconds=1)
        worker.run_until_closed("w-1")
    assert rpc_handlers.seen == [(False, None), (True, None)]


@pytest.mark.rule(162)
def test_silence_fails_the_attempt_before_its_timeout(kit: Kit) -> None:
    rpc_handlers.gates["silent"] = Gate()
    kit.client.start(flow_of(WORK % "falls_silent"), "w-1")
    with kit.working() as worker:
        rpc_handlers.gates["silent"].await_arrival()
        kit.clock.advance(seconds=9)
        assert kit.phases("w-1") == {"Work-1": "running"}
        kit.clock.advance(seconds=2)
        kit.await_phase("backing_off", "w-1")
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("w-1")
        rpc_handlers.gates["silent"].open()
    assert run["outputs"][0]["output"] == "from alive"
    failures = [
        change["failure"]["type"]
        for commit in kit.client.history("w-1")
        for change in commit["changes"]
        if change["change"] == "attempt_failed"
    ]
    assert failures == ["HeartbeatTimeout"]


@pytest.mark.rule(162)
@pytest.mark.rule(163)
def test_silence_of_a_coroutine_cancels_it(kit: Kit) -> None:
    kit.client.start(flow_of(WORK % "falls_silent_async"), "w-1")
    with kit.working() as worker:
        assert rpc_handlers.beats.wait(PATIENCE)
        kit.clock.advance(seconds=11)
        kit.await_phase("backing_off", "w-1")
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("w-1")
    assert run["outputs"][0]["output"] == "from alive"
    assert rpc_handlers.seen == ["cancelled"]


@pytest.mark.rule(163)
def test_a_heartbeat_notices_a_cancel_by_another_process(kit: Kit) -> None:
    kit.client.start(flow_of(WORK % "beats_until_cancelled"), "w-1")
    elsewhere = Engine(kit.path)
    with kit.working():
        assert rpc_handlers.beats.wait(PATIENCE)
        Client(elsewhere).stop("w-1")
        kit.clock.advance(seconds=5)
        assert rpc_handlers.noticed.wait(PATIENCE)
    elsewhere.close()
    assert rpc_handlers.seen == ["cancelled"]


def test_heartbeats_keep_the_lease(kit: Kit) -> None:
    rpc_handlers.gates["silent"] = Gate()
    kit.client.start(flow_of(WORK % "falls_silent"), "w-1")
    with kit.working() as worker:
        rpc_handlers.gates["silent"].await_arrival()
        assert kit.phases("w-1") == {"Work-1": "running"}
        rpc_handlers.gates["silent"].open()
        run = worker.run_until_closed("w-1")
    assert run["outputs"][0]["output"] == "too late"
