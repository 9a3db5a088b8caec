"""Records of what happens to runs and workers: logger `orchestrator.events`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.engine import leases
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, another_store, flow_of

FLOW = flow_of(
    """
flow: Told
handlers: tests.support.engine_handlers
start: Try
steps:
  Try:
    execute: {handler: fail_twice, retry: {initial_interval: 0s, maximum_attempts: 5}}
    graceful_complete: null
"""
)
FAILING = flow_of(
    """
flow: Failing
handlers: tests.support.engine_handlers
start: Try
steps:
  Try: {execute: {handler: fail_twice, retry: {maximum_attempts: 1}}, graceful_complete: null}
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


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.name == "orchestrator.events"]


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [fields["event"] for fields in told(caplog)]


@pytest.fixture
def records(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="orchestrator.events")
    return caplog


@contextmanager
def awaiting(event: str) -> Iterator[None]:
    """Until something of this kind, which the block brings about, has been told."""
    told = threading.Event()

    def note(record: logging.LogRecord) -> bool:
        if vars(record).get("event") == event:
            told.set()
        return False

    handler = logging.Handler()
    handler.addFilter(note)
    log = logging.getLogger("orchestrator.events")
    log.addHandler(handler)
    try:
        yield
        assert told.wait(PATIENCE), f"nobody tells of {event}"
    finally:
        log.removeHandler(handler)


def test_a_run_is_told_from_start_to_end(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    run = kit.run(FLOW)
    assert [event for event in events(records) if "worker" not in event] == [
        "run_started",
        "attempt_failed",
        "attempt_failed",
        "run_closed",
    ]
    started, first, second, closed = (each for each in told(records) if "flow_id" in each)
    identity = {"flow": "Told", "flow_id": "run-1", "run_id": run["run_id"]}
    for fields in (started, first, second, closed):
        assert {name: fields[name] for name in identity} == identity
    assert (first["step"], first["step_execution_id"], first["attempt"]) == ("Try", "Try-1", 1)
    assert (second["attempt"], second["duration"], second["error"]) == (2, 0.0, "ValueError")
    assert first["levelname"] == "WARNING"
    assert (closed["status"], closed["duration"], closed["levelname"]) == ("COMPLETED", 0.0, "INFO")


def test_a_failed_run_is_a_warning_with_its_error(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    kit.run(FAILING)
    step, run = (each for each in told(records) if each["event"] in ("step_failed", "run_closed"))
    assert (step["error"], step["attempt"], step["levelname"]) == ("ValueError", 1, "WARNING")
    assert (run["status"], run["levelname"]) == ("FAILED", "WARNING")


def test_failures_are_told_without_their_words_if_these_may_be_secret(
    kit: Kit, records: pytest.LogCaptureFixture
) -> None:
    kit.engine.journal.shows_messages = False
    kit.run(FAILING)
    assert not any("error_message" in fields for fields in told(records))
    assert not any("on attempt" in record.getMessage() for record in records.records)


def test_completed_steps_are_told_when_debugging(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    records.set_level(logging.DEBUG, logger="orchestrator.events")
    kit.run(FLOW)
    (step,) = (each for each in told(records) if each["event"] == "step_completed")
    assert (step["attempt"], step["duration"]) == (3, 0.0)


def test_where_only_warnings_are_wanted_starts_and_ends_are_not_told(
    kit: Kit, records: pytest.LogCaptureFixture
) -> None:
    records.set_level(logging.WARNING, logger="orchestrator.events")
    kit.run(FLOW)
    assert events(records) == ["attempt_failed", "attempt_failed"]


def test_a_worker_tells_when_it_begins_and_ends(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    worker = Worker(kit.engine, concurrency=2)
    worker.start()
    gate.await_arrival()
    worker.stop(grace=0)
    gate.open()
    begun, draining, drained = (each for each in told(records) if "worker" in each["event"])
    assert (begun["event"], begun["concurrency"]) == ("worker_started", 2)
    assert (draining["event"], draining["held"]) == ("worker_draining", 1)
    assert (drained["event"], drained["left"], drained["levelname"]) == ("worker_drained", 1, "WARNING")
    assert begun["worker"] == draining["worker"] == drained["worker"]


def test_a_lease_that_others_took_is_told(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    """The worker did not renew in time: another one buries it, and its handler's result is void."""
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working() as worker:
        gate.await_arrival()
        other = Engine(another_store(kit), clock=kit.clock)
        with other.store.writing() as transaction:
            for row in transaction.workers():
                transaction.bury_worker(row.worker)
        Client(other).pause("Gated")
        other.close()
        with awaiting("worker_lost"):
            kit.clock.advance(seconds=leases.RENEW_EVERY.total_seconds())
        gate.open()
        worker.run_until_idle(timedelta())
    (lost,) = (each for each in told(records) if each["event"] == "lease_lost")
    assert (lost["flow_id"], lost["step_execution_id"], lost["attempt"]) == ("run-1", "Work-1", 1)
    (given_up,) = (each for each in told(records) if each["event"] == "worker_lost")
    assert given_up["successor"] > given_up["worker"]


def test_work_of_dead_workers_is_told_when_it_is_freed(kit: Kit, records: pytest.LogCaptureFixture) -> None:
    kit.client.start(FLOW, "run-1")
    now = kit.clock.now()
    with kit.engine.store.writing() as transaction:
        dead = transaction.register_worker(now - timedelta(seconds=1), "elsewhere", 1, "")
        assert len(transaction.claim(dead, now, 1, [])) == 1
    with kit.working() as worker:
        worker.run_until_closed("run-1")
    (freed,) = (each for each in told(records) if each["event"] == "work_taken_over")
    assert freed["count"] == 1
