"""Handlers that outlive their worker."""

import threading

from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, another_store, flow_of

GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, graceful_complete: null}
"""
)


def test_a_handler_that_ends_after_its_engine_was_closed_ends_quietly(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    before = set(threading.enumerate())
    kit.client.start(GATED, "run-1")
    engine = Engine(another_store(kit), clock=kit.clock)
    worker = Worker(engine, concurrency=1)
    worker.start()
    gate.await_arrival()
    worker.stop(grace=0)
    engine.close()
    gate.open()
    left = [each for each in set(threading.enumerate()) - before if each.name.startswith("handler-")]
    for thread in left:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in left)
