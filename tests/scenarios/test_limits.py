"""Limits of queues hold over all workers; what waits for them is lost by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator.engine.engine import Engine
from orchestrator.engine.queue_settings import remove_queue, replace_queues, set_queue
from orchestrator.engine.worker import Worker
from orchestrator.errors import NotFound, UsageError
from orchestrator.store.queues import Priority, QueueSettings, Rate
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, flow_of

ONE_STEP = """
flow: %s
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: {handler: %s, timeout: 1h}, graceful_complete: null}
"""
GATED = flow_of(ONE_STEP % ("Gated", "gated"))
QUICK = flow_of(ONE_STEP.replace("Work", "Glance") % ("Quick", "attempt_of"))
COROUTINES = flow_of(ONE_STEP % ("Coroutines", "gated_async"))
CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.engine_handlers
start: First
steps:
  First: {execute: {handler: gated, timeout: 1h}, go_to: Second}
  Second: {execute: {handler: gated, timeout: 1h}, graceful_complete: null}
"""
)
OVERLAPPING = flow_of(
    """
flow: Overlapping
handlers: tests.support.engine_handlers
start: First
steps:
  First: {execute: overlap, go_to: Second}
  Second: {execute: overlap, graceful_complete: null}
"""
)
FAILING = flow_of(
    """
flow: Failing
handlers: tests.support.engine_handlers
start: Work
steps:
  Work:
    execute: {handler: fail_first, retry: {initial_interval: 1m, maximum_attempts: 3}}
    graceful_complete: null
"""
)
TIMED = flow_of(
    """
flow: Timed
handlers: tests.support.engine_handlers
channels: {go: {type: integer, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {any_of: [{timer: 1m}, {channel: go}]}
    execute: attempt_of
    graceful_complete: null
"""
)


def limit(kit: Kit, name: str = "narrow", **settings: Any) -> None:
    set_queue(kit.engine, name, lambda known: replace(known, **settings))


@contextmanager
def two_workers(kit: Kit, concurrency: int = 4, **options: Any) -> Iterator[tuple[Worker, Worker]]:
    """With an engine each, as two processes have."""
    engine = Engine(kit.path, clock=kit.clock)
    kit.clock.tell(engine)
    workers = tuple(Worker(each, concurrency=concurrency, **options) for each in (kit.engine, engine))
    try:
        for worker in workers:
            worker.start()
        yield workers[0], workers[1]
    finally:
        for worker in workers:
            worker.stop(grace=5)
        engine.close()


def running(kit: Kit, *queues: str) -> int:
    """Attempts of these queues in the hands of workers."""
    with kit.engine.store.reading() as reading:
        counts = reading.work_counts(kit.clock.now())
        return sum(
            counts.get(queue.number, (0, 0))[0] for queue in reading.find_queues() if queue.name in queues
        )


def status(kit: Kit, flow_id: str) -> str:
    return str(kit.client.describe(flow_id)["status"])


@pytest.mark.parametrize("flow", [GATED, COROUTINES], ids=["threads", "coroutines"])
def test_no_more_than_the_concurrency_of_a_queue_runs_on_all_workers(kit: Kit, flow: Any) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    limit(kit, routes=(flow.name,), concurrency=3)
    for number in range(10):
        kit.client.start(flow, f"r{number}")
    with two_workers(kit) as (worker, _):
        for _ in range(3):
            gate.await_arrival()
        for _ in range(7):
            assert running(kit, "narrow") == 3
            gate.open()
            gate.await_arrival()
        assert running(kit, "narrow") == 3
        gate.open(3)
        for number in range(10):
            assert worker.run_until_closed(f"r{number}")["status"] == "COMPLETED"
    assert engine_handlers.calls["Work-1"] == 10


def test_many_quick_handlers_on_many_workers_stay_within_the_limit(kit: Kit) -> None:
    limit(kit, routes=("Overlapping",), concurrency=2)
    limit(kit, "outer", concurrency=3)
    limit(kit, "inner", routes=("Overlapping/Second",), concurrency=2, within="outer")
    for number in range(60):
        kit.client.start(OVERLAPPING, f"r{number}")
    with two_workers(kit) as (worker, _):
        for number in range(60):
            assert worker.run_until_closed(f"r{number}")["status"] == "COMPLETED"
    assert engine_handlers.calls == {"First-1": 60, "Second-1": 60}
    assert max(engine_handlers.at_once) <= 4


def test_the_next_step_of_a_run_waits_for_the_limit_too(kit: Kit) -> None:
    first, second = Gate(), Gate()
    engine_handlers.gates |= {"First": first, "Second": second}
    limit(kit, routes=("Chain/Second",), concurrency=1)
    for number in range(3):
        kit.client.start(CHAIN, f"r{number}")
    with two_workers(kit) as (worker, _):
        first.open(3)
        for _ in range(3):
            first.await_arrival()
        for _ in range(3):
            second.await_arrival()
            assert running(kit, "narrow") == 1
            second.open()
        for number in range(3):
            worker.run_until_closed(f"r{number}")


def test_a_queue_counts_what_stands_within_it(kit: Kit) -> None:
    gates = engine_handlers.gates
    gates["First"], gates["Work"] = Gate(), Gate()
    limit(kit, "outer", routes=("Gated",), concurrency=2)
    limit(kit, "inner", routes=("Chain",), concurrency=1, within="outer")
    for number in range(3):
        kit.client.start(CHAIN, f"c{number}")
    with two_workers(kit) as _:
        gates["First"].await_arrival()
        for number in range(3):
            kit.client.start(GATED, f"g{number}")
        gates["Work"].await_arrival()
        assert running(kit, "outer", "inner") == 2
        assert (status(kit, "g0"), status(kit, "c1")) == ("RUNNING", "RUNNING")
        for flow_id in ("c0", "c1", "c2", "g0", "g1", "g2"):
            kit.client.stop(flow_id)
        gates["First"].open(3)
        gates["Work"].open(3)


def look(kit: Kit, worker: Worker, flow_id: str) -> None:
    """The worker has looked for work since."""
    kit.client.start(QUICK, flow_id)
    worker.run_until_closed(flow_id)


def test_a_rate_lets_so_many_attempts_begin(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    gate.open(8)
    limit(kit, routes=("Gated",), rate=Rate(count=2, micros=2_000_000, burst=3))
    for number in range(8):
        kit.client.start(GATED, f"r{number}")
    with two_workers(kit) as (worker, _):
        for _ in range(3):
            gate.await_arrival()
        for begun_count in range(3, 8):
            look(kit, worker, f"look-{begun_count}")
            assert engine_handlers.calls["Work-1"] == begun_count
            kit.clock.advance(seconds=1.1)  # both keep their leases
            gate.await_arrival()
        for number in range(8):
            assert worker.run_until_closed(f"r{number}")["status"] == "COMPLETED"


def test_an_attempt_that_is_tried_again_stands_in_its_queue_again(kit: Kit) -> None:
    limit(kit, routes=("Failing",), concurrency=1)
    for number in range(3):
        kit.client.start(FAILING, f"r{number}")
    with two_workers(kit) as (worker, _):
        for number in range(3):
            kit.await_phase("backing_off", f"r{number}")
        kit.clock.advance(minutes=2)
        for number in range(3):
            assert worker.run_until_closed(f"r{number}")["status"] == "COMPLETED"


def test_timers_fire_though_their_queue_is_full(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    limit(kit, routes=("Gated", "Timed"), concurrency=1)
    kit.client.start(TIMED, "timed")
    with kit.working() as worker:
        kit.await_phase("waiting", "timed")
        kit.client.start(GATED, "gated")
        gate.await_arrival()
        kit.clock.advance(minutes=2)
        kit.await_phase("queued", "timed")
        gate.open()
        assert worker.run_until_closed("timed")["status"] == "COMPLETED"


def test_a_higher_priority_comes_first_and_a_lower_one_is_not_starved(kit: Kit) -> None:
    limit(kit, "urgent", routes=("Chain",), priority=Priority.HIGH)
    limit(kit, "slow", routes=("Quick",), priority=Priority.LOW)
    first, second = Gate(), Gate()
    engine_handlers.gates |= {"First": first, "Second": second}
    first.open(20)
    second.open(20)
    kit.client.start(QUICK, "low")
    for number in range(20):
        kit.client.start(CHAIN, f"high-{number}")
    worker = Worker(kit.engine, concurrency=1)
    worker.run_until_idle()
    worker.stop(grace=5)
    begun = engine_handlers.begun
    assert begun[0] == "First-1"
    assert 1 <= begun.index("Glance-1") < len(begun) - 1


def test_a_worker_that_serves_a_queue_does_its_work_and_all_timers(kit: Kit) -> None:
    limit(kit, "slow-ones", routes=("Quick",))
    kit.client.start(QUICK, "mine")
    kit.client.start(CHAIN, "not-mine")
    kit.client.start(TIMED, "timed")
    worker = Worker(kit.engine, concurrency=2, queues=["slow-ones"])
    worker.run_until_idle()
    assert (status(kit, "mine"), status(kit, "not-mine")) == ("COMPLETED", "RUNNING")
    kit.await_phase("waiting", "timed")
    kit.clock.advance(minutes=2)
    kit.await_phase("queued", "timed")
    worker.stop(grace=5)
    assert engine_handlers.calls == {"Glance-1": 1}


def test_slots_of_a_dead_worker_come_back_with_its_leases(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    limit(kit, routes=("Gated",), concurrency=2)
    for number in range(3):
        kit.client.start(GATED, f"r{number}")
    with kit.engine.store.writing() as transaction:
        dead = transaction.register_worker(kit.clock.now(), "another", 1, "")
        (queue,) = transaction.queues
        assert len(transaction.claim(dead, kit.clock.now(), 2, [], queue.number)) == 2
    kit.clock.advance(seconds=1)
    with kit.working() as worker:
        gate.open(3)
        for number in range(3):
            worker.run_until_closed(f"r{number}")


def test_new_settings_hold_for_what_waits_and_count_what_runs(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    for number in range(3):
        kit.client.start(GATED, f"r{number}")
    with kit.working(concurrency=5) as worker:
        for _ in range(3):
            gate.await_arrival()
        limit(kit, routes=("Gated",), concurrency=1)
        for number in range(3, 6):
            kit.client.start(GATED, f"r{number}")
        assert running(kit, "narrow") == 3
        gate.open(3)
        gate.await_arrival()
        look(kit, worker, "look-1")
        assert engine_handlers.calls["Work-1"] == 4
        limit(kit, concurrency=2)
        gate.await_arrival()
        remove_queue(kit.engine, "narrow")
        gate.open(3)
        for number in range(6):
            worker.run_until_closed(f"r{number}")


def test_a_queue_of_concurrency_0_begins_nothing(kit: Kit) -> None:
    limit(kit, routes=("*",), concurrency=0)
    kit.client.start(QUICK, "r")
    with kit.working() as worker:
        for _ in range(3):
            kit.engine.wake()
        assert status(kit, "r") == "RUNNING"
        limit(kit, concurrency=None)
        worker.run_until_closed("r")


def test_settings_that_do_not_fit_together_are_refused(kit: Kit) -> None:
    limit(kit, "a", routes=("Quick",))
    limit(kit, "b", within="a")
    unfit: dict[str, dict[str, Any]] = {
        "c": {"routes": ("Quick",)},
        "d": {"routes": ("Quick/",)},
        "e": {"within": "b"},
        "a": {"within": "b"},
        "f": {"within": "f"},
        "g": {"concurrency": -1},
        "h": {"rate": Rate(0, 1)},
        "1": {},
    }
    for name, settings in unfit.items():
        with pytest.raises(UsageError):
            limit(kit, name, **settings)
    with pytest.raises(UsageError, match="b stands within a"):
        remove_queue(kit.engine, "a")
    with pytest.raises(NotFound, match="there is no queue z; there are: a, b"):
        remove_queue(kit.engine, "z")


def test_all_queues_are_replaced_at_once(kit: Kit) -> None:
    limit(kit, "old", routes=("Quick",))
    limit(kit, "outer", routes=("Chain",))
    limit(kit, "inner", within="outer")
    new = {"inner": QueueSettings(routes=("Quick",), within="whole"), "whole": QueueSettings(concurrency=4)}
    replace_queues(kit.engine, new)
    with kit.engine.store.reading() as reading:
        assert {queue.name: queue.settings for queue in reading.find_queues()} == new


def explained(kit: Kit, flow_id: str) -> dict[str, Any]:
    found: dict[str, Any] = kit.client.explain(flow_id)
    return found


def test_explain_says_which_limit_a_step_waits_for(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    limit(kit, routes=("Gated",), concurrency=1)
    limit(kit, "slow", routes=("Quick",), rate=Rate(count=1, micros=60_000_000))
    with kit.working() as worker:
        kit.client.start(GATED, "first")
        gate.await_arrival()
        kit.client.start(GATED, "second")
        (step,) = explained(kit, "second")["active"]
        assert (step["queue"], step["held_back"]) == ("narrow", "the queue narrow is full: 1 of 1 run")
        assert step["help"][0]["command"] == "orchestrator queues set narrow --concurrency N"
        assert (
            explained(kit, "second")["summary"] == "Work-1 is ready, but the queue narrow is full: 1 of 1 run"
        )
        look(kit, worker, "begun")
        kit.client.start(QUICK, "later")
        (step,) = explained(kit, "later")["active"]
        assert step["held_back"].startswith("the rate of the queue slow is used up, the next may begin in 1m")
        gate.open(2)
        worker.run_until_closed("second")


def test_explain_says_that_nobody_serves_a_queue(kit: Kit) -> None:
    limit(kit, "slow", routes=("Quick",))
    kit.client.start(QUICK, "mine")
    kit.client.start(CHAIN, "other")
    assert explained(kit, "mine")["active"][0]["held_back"] == "no worker is running"
    worker = Worker(kit.engine, queues=["Gated", "Chain/Second"])
    worker.start()
    (step,) = explained(kit, "mine")["active"]
    assert step["held_back"] == "no worker that is running serves the queue slow"
    assert step["help"][0]["command"] == "orchestrator worker --queues slow"
    (step,) = explained(kit, "other")["active"]
    assert step["held_back"] == "no worker that is running serves Chain/First"
    worker.stop(grace=5)


def test_metrics_count_what_is_in_each_queue(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    limit(kit, routes=("Gated",), concurrency=1)
    for number in range(3):
        kit.client.start(GATED, f"r{number}")
    with kit.working() as worker:
        gate.await_arrival()
        text = worker.metrics_text()
        gate.open(3)
        for number in range(3):
            worker.run_until_closed(f"r{number}")
    assert 'orchestrator_queue_leased{queue="narrow"} 1' in text
    assert 'orchestrator_queue_due{queue="narrow"} 2' in text
    assert 'orchestrator_queue_concurrency{queue="narrow"} 1' in text
