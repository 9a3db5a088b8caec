"""A database that fails for a while: workers go on when it is back, and nothing is leased to nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestrator.engine import leases
from orchestrator.engine.worker import Worker
from orchestrator.errors import StoreError
from orchestrator.store.contract import Store, Transaction
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, another_store, flow_of

TIMED = flow_of(
    """
flow: Timed
handlers: tests.support.engine_handlers
start: Wait
steps:
  Wait: {wait_for: {until: {timer: 1m}}, graceful_complete: null}
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


class Breaker:
    """Lets every transaction of a kit fail at its commit while it is broken."""

    def __init__(self, kit: Kit) -> None:
        self.is_broken = False
        self.has_failed = threading.Event()
        self._store: Store = kit.engine.store
        self._writing = self._store.writing

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self._writing() as transaction:
            yield transaction
            if self.is_broken:
                self.has_failed.set()
                raise StoreError("the disk is full")


@pytest.fixture
def breaker(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Breaker:
    breaker = Breaker(kit)
    monkeypatch.setattr(kit.engine.store, "writing", breaker.writing)
    return breaker


def await_beat(kit: Kit, worker: Worker) -> None:
    """Time passes until the lease has been renewed."""
    before = kit.clock.now()
    for _ in range(6000):
        kit.clock.advance(seconds=leases.RENEW_EVERY.total_seconds())
        if worker.renewed_at is not None and worker.renewed_at > before:
            return
        threading.Event().wait(0.01)
    raise AssertionError("the lease is never renewed")


@pytest.mark.rule(17)
def test_a_worker_whose_lease_could_not_be_renewed_goes_on(kit: Kit, breaker: Breaker) -> None:
    kit.client.start(TIMED, "run-1")
    with kit.working() as worker:
        kit.await_phase("waiting")
        breaker.is_broken = True
        kit.clock.advance(seconds=leases.RENEW_EVERY.total_seconds())
        assert breaker.has_failed.wait(PATIENCE)
        breaker.is_broken = False
        await_beat(kit, worker)
        kit.clock.advance(minutes=1)
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"


@pytest.mark.rule(156)
def test_nothing_is_leased_to_a_worker_that_is_not_stored(kit: Kit, breaker: Breaker) -> None:
    """Others have buried it, and its new registration fails."""
    with kit.working() as worker:
        buried = worker._dispatcher.worker
        with kit.engine.store.writing() as transaction:
            transaction.bury_worker(buried)
        breaker.is_broken = True
        kit.clock.advance(seconds=leases.RENEW_EVERY.total_seconds())
        assert breaker.has_failed.wait(PATIENCE)
        assert worker._dispatcher.worker == buried
        breaker.is_broken = False
        await_beat(kit, worker)
        with kit.engine.store.reading() as reading:
            assert [row.worker for row in reading.workers()] == [worker._dispatcher.worker]


def test_a_worker_that_could_not_start_can_be_started_again(kit: Kit, breaker: Breaker) -> None:
    kit.client.start(TIMED, "run-1")
    worker = Worker(kit.engine, concurrency=2)
    breaker.is_broken = True
    with pytest.raises(StoreError, match="disk is full"):
        worker.start()
    breaker.is_broken = False
    worker.start()
    kit.await_phase("waiting")
    kit.clock.advance(minutes=1)
    assert worker.run_until_closed("run-1")["status"] == "COMPLETED"
    worker.stop()


def test_a_worker_stops_though_the_database_fails(
    kit: Kit, breaker: Breaker, caplog: pytest.LogCaptureFixture
) -> None:
    """Its leases end by themselves."""
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    worker = Worker(kit.engine, concurrency=2)
    worker.start()
    gate.await_arrival()
    breaker.is_broken = True
    worker.stop(grace=0)
    assert not worker.is_started
    assert "could not sign off while it stopped" in caplog.text
    gate.open()
    breaker.is_broken = False
    kit.clock.advance(seconds=leases.ALIVE_FOR.total_seconds() + 1)
    engine_handlers.gates["Work"].open()
    with kit.working() as successor:
        assert successor.run_until_closed("run-1")["status"] == "COMPLETED"


@pytest.mark.rule(156)
def test_a_worker_that_others_have_buried_leases_nothing_under_its_old_name(kit: Kit) -> None:
    """Whoever comes after it would never find that."""
    gate = engine_handlers.gates["Work"] = Gate()
    with kit.working() as worker:
        other = another_store(kit)
        with other.writing() as transaction:
            transaction.bury_worker(worker._dispatcher.worker)
        other.close()
        kit.client.start(GATED, "run-1")
        gate.await_arrival()
        with kit.engine.store.reading() as reading:
            head = reading.find_latest("run-1")
            assert head is not None
            stored = {row.worker for row in reading.workers()}
            assert set(reading.load(head).leases.values()) <= stored
        gate.open(2)
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"
