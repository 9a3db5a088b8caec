"""Workers with queues: each takes its own work, nothing is lost."""

from __future__ import annotations

import pytest

from orchestrator.engine.worker import Worker
from orchestrator.errors import UsageError
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Kit, flow_of

CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.engine_handlers
start: First
steps:
  First: {execute: attempt_of, go_to: Second}
  Second: {execute: attempt_of, graceful_complete: null}
"""
)
OTHER = flow_of(
    """
flow: Other
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: attempt_of, graceful_complete: null}
"""
)
FOREIGN = flow_of(
    """
flow: Foreign
handlers: nowhere.to_be_found
start: Work
steps:
  Work: {execute: run, graceful_complete: null}
"""
)
DEADLINE = flow_of(
    """
flow: Deadline
handlers: tests.support.engine_handlers
timeout: {after: 10m, policy: handler}
on_timeout: {execute: attempt_of, force_complete: null}
channels: {go: {type: integer, external: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: go}}, dead_end: true}
"""
)


def work(kit: Kit, *queues: str) -> None:
    """Until idle, with these queues only."""
    worker = Worker(kit.engine, concurrency=2, queues=queues)
    try:
        worker.run_until_idle()
    finally:
        worker.stop(grace=PATIENCE)


def phases(kit: Kit, flow_id: str) -> list[str]:
    return [f"{each['step']} {each['phase']}" for each in kit.client.describe(flow_id)["active"]]


def status(kit: Kit, flow_id: str) -> str:
    return str(kit.client.describe(flow_id)["status"])


def test_a_flow_type_is_a_queue(kit: Kit) -> None:
    kit.client.start(OTHER, "other")
    kit.client.start(CHAIN, "chain")
    work(kit, "Chain")
    assert status(kit, "chain") == "COMPLETED"
    assert phases(kit, "other") == ["Work queued"]
    work(kit, "Chain", "Other")
    assert status(kit, "other") == "COMPLETED"


def test_a_step_is_a_queue_and_other_workers_go_on(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain")
    work(kit, "Chain/Second")
    assert phases(kit, "chain") == ["First queued"]
    work(kit, "Chain/First")
    assert phases(kit, "chain") == ["Second queued"]
    work(kit, "Other", "Chain/Second")
    assert status(kit, "chain") == "COMPLETED"
    assert engine_handlers.calls == {"First-1": 1, "Second-1": 1}


def test_work_that_comes_while_a_worker_runs_is_left_too(kit: Kit) -> None:
    worker = Worker(kit.engine, concurrency=2, queues=["Chain"])
    worker.start()
    try:
        kit.client.start(OTHER, "other")
        kit.client.start(CHAIN, "chain")
        assert worker.run_until_closed("chain")["status"] == "COMPLETED"
        worker.run_until_idle()
        assert phases(kit, "other") == ["Work queued"]
    finally:
        worker.stop(grace=PATIENCE)


def test_handlers_of_other_flows_are_not_even_imported(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    kit.client.start(FOREIGN, "foreign")
    work(kit, "Chain")
    assert caplog.records == []
    assert phases(kit, "foreign") == ["Work queued"]
    work(kit)
    assert "flow Foreign is left to other workers" in caplog.text


def test_a_timeout_handler_is_a_step_of_its_flow(kit: Kit) -> None:
    kit.client.start(DEADLINE, "late")
    kit.clock.advance(minutes=11)
    work(kit, "Deadline/Wait")
    assert status(kit, "late") == "RUNNING"
    work(kit, "Deadline/on_timeout")
    assert status(kit, "late") == "COMPLETED"


@pytest.mark.parametrize("queue", ["", "/Work", "Other/", "Other/Work/More", "Other Work", "Oth*r"])
def test_what_is_no_queue_is_refused(kit: Kit, queue: str) -> None:
    with pytest.raises(UsageError, match="is not a queue"):
        Worker(kit.engine, queues=[queue])
