"""A worker holds no more work than it begins soon: what it cannot begin is there for others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from orchestrator.engine.elsewhere import MAXIMUM_COROUTINES
from orchestrator.engine.engine import Engine
from orchestrator.engine.pace import Pace
from orchestrator.engine.ready import CROWD
from orchestrator.engine.worker import Worker
from tests.support import engine_handlers, postgres
from tests.support.engine_kit import Gate, Kit, flow_of

QUICK = flow_of(
    """
flow: Quick
handlers: tests.support.engine_handlers
input: integer
start: Double
steps:
  Double: {input: integer, execute: double, graceful_complete: null}
"""
)
SLOW = """
flow: Slow
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: {handler: %s, timeout: 1h}, graceful_complete: null}
"""
WIDE = flow_of(
    """
flow: Wide
handlers: tests.support.engine_handlers
input: integer
start: Split
steps:
  Split: {input: integer, go_to_many: [{step: Branch, for_each: "${range(input)}"}]}
  Branch: {execute: {handler: gated, timeout: 1h}, graceful_complete: null}
"""
)
COUNT = 20


@contextmanager
def another_worker(kit: Kit, concurrency: int) -> Iterator[Worker]:
    engine = Engine(kit.path, clock=kit.clock)
    kit.clock.tell(engine)
    worker = Worker(engine, concurrency=concurrency)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(grace=5)
        engine.close()


def held_by(worker: Worker) -> int:
    """Step executions that it has leased."""
    lines = worker.metrics_text().splitlines()
    return int(next(line for line in lines if line.startswith("orchestrator_held ")).split()[1])


def test_what_waits_behind_slow_handlers_goes_to_other_workers(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    flow = flow_of(SLOW % "gated")
    with kit.working(concurrency=1) as worker:
        for number in range(50):
            kit.client.start(QUICK, f"q{number}", 1)
            worker.run_until_closed(f"q{number}")
        for number in range(COUNT):
            kit.client.start(flow, f"s{number}")
        gate.await_arrival()
        assert held_by(worker) > 10, "it has seen quick handlers only, and leased ahead"
        with another_worker(kit, concurrency=4):
            kit.clock.advance(seconds=2)
            for _ in range(4):
                gate.await_arrival()
            gate.open(COUNT)
            for number in range(COUNT):
                worker.run_until_closed(f"s{number}")
    assert engine_handlers.calls["Work-1"] == COUNT


def test_what_was_leased_by_the_thousand_goes_to_other_workers_when_it_turns_out_to_be_slow(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "room_for", lambda pace, handler: 1000)
    gate = engine_handlers.gates["Branch"] = Gate()
    branch_count = 3 * CROWD
    with kit.working(concurrency=1) as worker:
        kit.client.start(WIDE, "wide", branch_count)
        gate.await_arrival()
        assert held_by(worker) == branch_count
        with another_worker(kit, concurrency=1):
            kit.clock.advance(seconds=2)
            gate.await_arrival()
            gate.open(branch_count)
            worker.run_until_closed("wide")
    begun = {name: count for name, count in engine_handlers.calls.items() if name.startswith("Branch")}
    assert begun == {f"Branch-{number}": 1 for number in range(1, branch_count + 1)}


def test_a_worker_with_nothing_to_do_gets_what_others_have_not_begun() -> None:
    """No time passes: it calls for work when it finds none, and others hear it."""
    engine_handlers.reset()
    gate = engine_handlers.gates["Work"] = Gate()
    flow = flow_of(SLOW % "gated")
    with postgres.database() as url, closing(Kit(url)) as kit, kit.working(concurrency=1) as worker:
        for number in range(50):
            kit.client.start(QUICK, f"q{number}", 1)
            worker.run_until_closed(f"q{number}")
        for number in range(COUNT):
            kit.client.start(flow, f"s{number}")
        gate.await_arrival()
        assert held_by(worker) == COUNT
        with another_worker(kit, concurrency=4):
            for _ in range(4):
                gate.await_arrival()
            gate.open(COUNT)
            for number in range(COUNT):
                worker.run_until_closed(f"s{number}")
    assert engine_handlers.calls["Work-1"] == COUNT


def test_coroutines_are_bounded(kit: Kit) -> None:
    flow = flow_of(SLOW % "never")
    for number in range(MAXIMUM_COROUTINES + 30):
        kit.client.start_soon(flow, f"r{number}")
    kit.client.start(QUICK, "last", 1)
    with kit.working() as worker:
        worker.run_until_closed("last")
        assert held_by(worker) == MAXIMUM_COROUTINES
        for number in range(MAXIMUM_COROUTINES + 30):
            kit.client.stop(f"r{number}")


def test_a_run_with_many_branches_does_not_keep_others_waiting(kit: Kit) -> None:
    gate = engine_handlers.gates["Branch"] = Gate()
    kit.client.start(WIDE, "wide", 300)
    with kit.working(concurrency=1) as worker:
        gate.await_arrival()
        kit.clock.advance(seconds=2)
        gate.open()
        gate.await_arrival()
        kit.client.start(QUICK, "lone", 1)
        begun_count = 2
        while kit.client.describe("lone")["status"] == "RUNNING":
            kit.clock.advance(seconds=2)
            gate.open()
            begun_count += 1
            gate.await_arrival()
        assert begun_count <= 10
        for _ in range(300 - begun_count + 1):
            gate.open()
        worker.run_until_closed("wide")
