"""Processes whose clocks differ."""

from __future__ import annotations

from datetime import timedelta

import pytest

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
