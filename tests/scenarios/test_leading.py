"""Whoever commits for others under load neglects nothing else, and keeps nobody waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from orchestrator.core.events import ExecuteFailed
from orchestrator.engine import leases
from orchestrator.engine.batch import Batch
from orchestrator.engine.submission import Start
from tests.benchmarks import flows
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, flow_of

SOON = 60.0
"""Seconds."""
MANY = 500
"""Commits."""
BLOCKED = flow_of(
    """
flow: Blocked
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: {handler: gated, timeout: 1h}, graceful_complete: null}
"""
)


class Stream:
    """While a commit is made, something new comes: there is always more, until `ends` or for MANY commits."""

    def __init__(self, kit: Kit, ends: Callable[[Batch], bool]) -> None:
        self.commit_count = 0
        self.is_over = threading.Event()
        self._ends = ends
        self._leaders: set[str] = set()
        self._leader_is_new = threading.Condition()
        self._committer = kit.engine.committer
        self._told = self._committer.on_commit
        self._committer.on_commit = self._note
        self._submit()

    def await_leader(self, name: str) -> None:
        with self._leader_is_new:
            assert self._leader_is_new.wait_for(lambda: name in self._leaders, SOON)

    def _note(self, batch: Batch) -> None:
        self._told(batch)
        if self.is_over.is_set():
            return
        with self._leader_is_new:
            self._leaders.add(threading.current_thread().name)
            self._leader_is_new.notify()
        self.commit_count += 1
        if self._ends(batch) or self.commit_count == MANY:
            self.is_over.set()
        else:
            self._submit()

    def _submit(self) -> None:
        name = f"stream-{self.commit_count}"
        self._committer.submit(Start(flows.message(), name, name))


@pytest.mark.parametrize("leader", ["watch", "handler-1"])
def test_a_worker_stays_alive_while_there_is_always_more_to_commit(kit: Kit, leader: str) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    with kit.working(concurrency=1) as worker:
        before = worker.renewed_at
        if leader == "watch":
            kit.client.start(BLOCKED, "blocked")
            gate.await_arrival()
        stream = Stream(kit, ends=lambda _: worker.renewed_at != before)
        worker._dispatcher.nudge()
        stream.await_leader(leader)
        kit.clock.advance(seconds=leases.RENEW_EVERY.total_seconds())
        assert stream.is_over.wait(SOON)
        assert stream.commit_count < MANY, "its lease was not renewed in all that time"
        gate.open()


@pytest.mark.rule(145)
def test_a_time_limit_is_kept_while_there_is_always_more_to_commit(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    with kit.working(concurrency=1) as worker:
        kit.client.start(BLOCKED, "blocked")
        gate.await_arrival()
        stream = Stream(
            kit, ends=lambda batch: any(isinstance(each.event, ExecuteFailed) for each in batch.applied)
        )
        worker._dispatcher.nudge()
        stream.await_leader("watch")
        kit.clock.advance(hours=2)
        assert stream.is_over.wait(SOON)
        assert stream.commit_count < MANY, "the attempt was not ended in all that time"
        gate.open(2)


class Called(Gate):
    """Always open."""

    def __init__(self) -> None:
        super().__init__()
        self.is_called = threading.Event()

    def pass_through(self) -> None:
        self.is_called.set()


def test_the_only_thread_for_handlers_calls_them_while_there_is_always_more_to_commit(kit: Kit) -> None:
    handler = engine_handlers.gates["Work"] = Called()
    with kit.working(concurrency=1) as worker:
        stream = Stream(kit, ends=lambda _: handler.is_called.is_set())
        worker._dispatcher.nudge()
        stream.await_leader("handler-1")
        kit.client.start(BLOCKED, "run-1")
        assert stream.is_over.wait(SOON)
        assert stream.commit_count < MANY, "it has done nothing but commit in all that time"
        assert kit.client.wait("run-1", SOON)["status"] == "COMPLETED"
