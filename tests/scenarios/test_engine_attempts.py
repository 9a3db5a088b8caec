"""Attempts: retries, time limits, lost leases, draining, a database that fails."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.task import Task
from orchestrator.engine.worker import Worker
from orchestrator.errors import StoreError, WaitTimeout
from orchestrator.store.contract import Store
from orchestrator.store.sqlite_writing import SqliteTransaction
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, another_store, flow_of

HEAD = "handlers: tests.support.engine_handlers\nstart: Work\nsteps:\n"
RETRIED = flow_of(
    f"flow: Retried\n{HEAD}  Work: {{execute: fail_twice, result: text, graceful_complete: '${{text}}'}}"
)
ROUTED = flow_of(
    f"""flow: Routed
{HEAD}
  Work: {{execute: fail_for_good, on_failure: Recover, graceful_complete: null}}
  Recover: {{graceful_complete: "${{failure.message}}"}}
"""
)
GATED = flow_of(f"flow: Gated\n{HEAD}  Work: {{execute: gated, graceful_complete: '${{result}}'}}")
GATED_ASYNC = flow_of(
    f"flow: GatedAsync\n{HEAD}  Work: {{execute: gated_async, graceful_complete: '${{result}}'}}"
)
LIMITED = flow_of(
    f"""flow: Limited
{HEAD}
  Work:
    execute: {{handler: gated, timeout: 5s, retry: {{maximum_attempts: 2, initial_interval: 1s}}}}
    graceful_complete: "${{result}}"
"""
)
NEVER = flow_of(
    f"""flow: Never
{HEAD}
  Work:
    execute: {{handler: never, timeout: 10ms, retry: {{maximum_attempts: 1}}}}
    graceful_complete: null
"""
)


@pytest.mark.rule(146)
def test_a_failed_attempt_is_repeated_when_its_interval_is_over(kit: Kit) -> None:
    kit.client.start(RETRIED, "run-1")
    with kit.working() as worker:
        advance_until(kit, worker)
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["outputs"][0]["output"] == "third time"
    assert engine_handlers.calls == {"Work-1": 3}
    assert kit.events() == ["RunStarted", "ExecuteFailed", "ExecuteFailed", "ExecuteSucceeded"]


def advance_until(kit: Kit, worker: Worker) -> None:
    """Let both intervals (1 s, 2 s) pass, each after the attempt before it has failed."""
    for seconds in (1, 2):
        assert await_phase(kit, worker, "backing_off")
        kit.clock.advance(seconds=seconds)


def await_phase(kit: Kit, worker: Worker, phase: str) -> bool:
    reached = threading.Event()
    worker.engine.on_batch = lambda batch: reached.set()
    while kit.phases() != {"Work-1": phase}:
        if not reached.wait(PATIENCE):
            return False
        reached.clear()
    return True


@pytest.mark.rule(154)
@pytest.mark.rule(149)
@pytest.mark.rule(151)
def test_a_failure_for_good_takes_its_route(kit: Kit) -> None:
    run = kit.run(ROUTED)
    assert run["outputs"][0]["output"] == "never"
    assert engine_handlers.calls == {"Work-1": 1}


def test_coroutines_run_beside_threads(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    for number in range(5):
        kit.client.start(GATED_ASYNC, f"run-{number}")
    with kit.working(concurrency=1):
        for _ in range(5):
            gate.await_arrival()
        gate.open(5)
        for number in range(5):
            run = kit.client.wait(f"run-{number}", timeout=PATIENCE)
            assert run["status"] == "COMPLETED", run


@pytest.mark.rule(164)
@pytest.mark.rule(163)
@pytest.mark.rule(145)
def test_an_attempt_over_its_time_fails_and_its_late_result_is_ignored(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(LIMITED, "run-1")
    with kit.working(concurrency=1) as worker:
        gate.await_arrival()
        kit.clock.advance(seconds=5)
        assert await_phase(kit, worker, "backing_off")
        failure = kit.client.describe("run-1")["active"][0]["last_failure"]
        assert failure == {"type": "Timeout", "message": "not finished within 5 s"}
        kit.clock.advance(seconds=1)
        gate.await_arrival()
        gate.open(2)
        run = kit.client.wait("run-1", timeout=PATIENCE)
    assert run["outputs"][0]["output"] == 2
    assert kit.events() == ["RunStarted", "ExecuteFailed", "ExecuteSucceeded"]


@pytest.mark.rule(145)
def test_a_coroutine_over_its_time_is_cancelled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """On the real clock: the event loop keeps its own time."""
    engine_handlers.reset()
    engine = Engine(str(tmp_path_factory.mktemp("store") / "runs.db"))
    with Worker(engine, concurrency=1), Client(engine) as client:
        client.start(NEVER, "run-1")
        run = client.wait("run-1", timeout=PATIENCE)
    engine.close()
    assert run["error"]["failure"]["type"] == "Timeout"


@pytest.mark.rule(157)
def test_draining_finishes_what_runs_and_hands_back_the_rest(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    for number in range(3):
        kit.client.start(GATED, f"run-{number}")
    worker = Worker(kit.engine, concurrency=1)
    worker.start()
    gate.await_arrival()
    handed_back = threading.Event()
    hand_back = kit.engine.committer.hand_back

    def tell(take_back: Callable[[], list[Task]]) -> None:
        hand_back(take_back)
        handed_back.set()

    monkeypatch.setattr(kit.engine.committer, "hand_back", tell)
    stopper = threading.Thread(target=worker.stop)
    stopper.start()
    assert handed_back.wait(PATIENCE)
    gate.open()
    stopper.join(PATIENCE)
    statuses = sorted(run["status"] for run in kit.client.search())
    assert statuses == ["COMPLETED", "RUNNING", "RUNNING"]
    left = [kit.client.describe(f"run-{n}")["active"] for n in range(3)]
    assert sorted((a[0]["phase"], a[0]["attempt"]) for a in left if a) == [("queued", 1), ("queued", 1)]
    assert engine_handlers.calls == {"Work-1": 1}


def test_what_does_not_finish_in_time_goes_to_another_worker(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    worker = Worker(kit.engine, concurrency=1)
    worker.start()
    gate.await_arrival()
    worker.stop(grace=0)
    assert kit.phases() == {"Work-1": "queued"}
    with kit.working(concurrency=1):
        gate.await_arrival()
        gate.open(2)
        assert kit.client.wait("run-1", timeout=PATIENCE)["status"] == "COMPLETED"
    assert kit.events() == ["RunStarted", "ExecuteSucceeded"]


def test_the_late_result_of_a_lost_lease_changes_nothing(kit: Kit) -> None:
    """Another process buries this worker and takes its step; what the first handler returns is not stored."""
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working(concurrency=1):
        gate.await_arrival()
        with other_process(kit) as other, other.writing() as transaction:
            (mine,) = [row.worker for row in transaction.workers()]
            assert transaction.bury_worker(mine) == 1
            theirs = transaction.register_worker(kit.clock.now(), "elsewhere", 1, "")
            (claimed,) = transaction.claim(theirs, kit.clock.now(), 10, [])
            assert claimed.is_lost
        gate.open()
        kit.client.start(ROUTED, "marker")
        kit.client.wait("marker", timeout=PATIENCE)
        assert kit.events() == ["RunStarted"]
        assert kit.phases() == {"Work-1": "running"}


@contextmanager
def other_process(kit: Kit) -> Iterator[Store]:
    store = another_store(kit)
    yield store
    store.close()


def test_a_worker_takes_over_what_a_dead_one_had(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    gate.open()
    kit.client.start(GATED, "run-1")
    with other_process(kit) as other, other.writing() as transaction:
        dead = transaction.register_worker(kit.clock.now().replace(year=2031), "elsewhere", 1, "")
        transaction.claim(dead, kit.clock.now(), 10, [])
    with kit.working(concurrency=1) as worker:
        worker.engine.lead()
        assert kit.phases() == {"Work-1": "running"}
        assert engine_handlers.calls == {}
        kit.clock.advance(days=400)
        assert kit.client.wait("run-1", timeout=PATIENCE)["status"] == "COMPLETED"


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_failing_database_loses_no_result(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    failed = threading.Event()
    write = SqliteTransaction.write

    def fail_once(self: SqliteTransaction, writes: object) -> None:
        if not failed.is_set():
            failed.set()
            raise sqlite3.OperationalError("disk I/O error")
        write(self, writes)  # type: ignore[arg-type]

    with kit.working(concurrency=1):
        gate.await_arrival()
        monkeypatch.setattr(SqliteTransaction, "write", fail_once)
        gate.open()
        assert failed.wait(PATIENCE)
        run = advance_until_closed(kit)
    assert run["outputs"][0]["output"] == 1
    assert engine_handlers.calls == {"Work-1": 1}


def advance_until_closed(kit: Kit) -> dict[str, Any]:
    """The pause after a failure begins at a moment that the test does not see."""
    for _ in range(200):
        kit.clock.advance(seconds=1)
        with contextlib.suppress(WaitTimeout):
            return kit.client.wait("run-1", timeout=0.1)
    raise AssertionError("the result was never stored")


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_failing_database_is_told_to_the_client(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SqliteTransaction, writes: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteTransaction, "write", fail)
        with pytest.raises(StoreError, match=r"runs\.db: database or disk is full"):
            kit.client.start(GATED, "run-1")
    assert kit.client.start(GATED, "run-1").is_new
