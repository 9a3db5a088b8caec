"""Processes whose clocks differ."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.clock import SharedClock, SystemClock
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from tests.support.engine_kit import Kit, VirtualClock, another_store, flow_of

FLOW = flow_of(
    """
flow: Greeting
handlers: tests.support.engine_handlers
start: Greet
steps:
  Greet: {execute: attempt_of, graceful_complete: null}
"""
)


@pytest.mark.rule(17)
def test_what_a_clock_ahead_made_ready_is_done_when_it_is_due_here(kit: Kit) -> None:
    """It is not kept by whoever took it too early."""
    ahead = Engine(another_store(kit), clock=VirtualClock(kit.clock.now() + timedelta(seconds=10)))
    with kit.working() as worker:
        Client(ahead).start(FLOW, "run-1")
        ahead.close()
        worker.run_until_idle()
        kit.clock.advance(seconds=10)
        assert worker.run_until_closed("run-1")["status"] == "COMPLETED"


class WrongClock(SystemClock):
    """The machine's, turned."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        return super().now() + self.offset


def test_a_wrong_clock_is_put_right_by_that_of_the_database_server(place: Path | str) -> None:
    """Timers are due, and leases end, when all processes think so. Those of a SQLite file share a machine."""
    wrong = WrongClock()
    wrong.offset = timedelta(hours=1)
    engine = Engine(str(place / "runs.db") if isinstance(place, Path) else place, clock=SharedClock(wrong))
    is_shared = engine.store.clock_time() is not None
    assert (engine.clock.now() - datetime.now(UTC) < timedelta(minutes=1)) == is_shared
    wrong.offset = timedelta(hours=-1)
    engine.set_clock()
    assert (datetime.now(UTC) - engine.clock.now() < timedelta(minutes=1)) == is_shared
    engine.close()


def test_a_clock_that_is_right_is_left_alone() -> None:
    clock = SharedClock(VirtualClock(datetime(2030, 1, 1, tzinfo=UTC)))
    assert clock.compare(lambda: datetime(2030, 1, 1, 0, 0, 0, 900_000, tzinfo=UTC)) is None
    assert clock.compare(lambda: None) is None
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC)


def test_commits_follow_a_clock_that_is_turned_back_far(kit: Kit) -> None:
    """What happens afterwards is not an hour late."""
    kit.client.start(FLOW, "run-1")
    first = kit.client.describe("run-1")["started_at"]
    kit.clock._now -= timedelta(hours=1)
    kit.client.start(FLOW, "run-2")
    assert kit.client.describe("run-2")["started_at"] < first


def test_a_worker_whose_clock_is_turned_back_renews_its_lease_at_once(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only when the clock shows again what it has shown before."""
    with kit.working() as worker:
        before = kit.clock.now()
        monkeypatch.setattr(kit.clock, "now", lambda: before - timedelta(hours=1))
        kit.engine.look_again()
        for _ in range(6000):
            if worker.renewed_at is not None and worker.renewed_at < before:
                break
            threading.Event().wait(0.01)
        assert worker.renewed_at is not None and worker.renewed_at < before
