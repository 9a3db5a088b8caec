"""The server dies under two workers and its standby takes over: nothing is lost, nothing counts twice."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.errors import StoreError
from tests.support import engine_handlers, standby
from tests.support.engine_kit import Gate, flow_of
from tests.support.standby import Pair

RUNS = [f"run-{number}" for number in range(16)]
CONCURRENCY = 4
SECONDS = 100.0
CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.engine_handlers
attributes: {total: {type: integer, initial: 0}}
output: integer
start: First
steps:
  First: {execute: note, set: {total: "${attributes.total + 1}"}, go_to: Second}
  Second: {execute: gated, set: {total: "${attributes.total + 1}"}, go_to: Third}
  Third: {execute: note, set: {total: "${attributes.total + 1}"}, go_to: Last}
  Last: {graceful_complete: "${attributes.total}"}
"""
)


@pytest.fixture
def servers() -> Iterator[Pair]:
    with standby.pair() as made:
        yield made


@pytest.mark.timeout(300)
def test_workers_go_on_where_the_standby_takes_over(servers: Pair) -> None:
    engine_handlers.reset()
    gate = engine_handlers.gates["Second"] = Gate()
    url = servers.url("failover")
    engines = [Engine(url) for _ in range(2)]
    workers = [Worker(engine, concurrency=CONCURRENCY) for engine in engines]
    with closing(engines[0]), closing(engines[1]):
        client = Client(engines[0])
        for flow_id in RUNS:
            client.start(CHAIN, flow_id)
        for worker in workers:
            worker.start()
        for _ in range(2 * CONCURRENCY):  # all of them are in the middle of a run
            gate.await_arrival()
        gate.open(CONCURRENCY)
        for _ in range(CONCURRENCY):
            gate.await_arrival()
        servers.primary.stop()
        gate.open(len(RUNS))
        servers.standby.promote()
        for flow_id in RUNS:
            described = wait_through_the_outage(client, flow_id)
            assert (described["status"], described["outputs"][0]["output"]) == ("COMPLETED", 3)
            history = client.history(flow_id)
            assert [commit["version"] for commit in history] == list(range(1, len(history) + 1))
            results = [each["step_execution_id"] for each in history if each["event"] == "ExecuteSucceeded"]
            assert results == ["First-1", "Second-1", "Third-1", "Last-1"]
        for worker in workers:
            worker.stop(grace=10)


def wait_through_the_outage(client: Client, flow_id: str) -> dict[str, Any]:
    """A call fails after seconds without a server; whoever made it asks again."""
    ends_at = time.monotonic() + SECONDS
    while True:
        try:
            return client.wait(flow_id, timeout=SECONDS)
        except StoreError:
            assert time.monotonic() < ends_at
