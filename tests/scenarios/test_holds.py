"""Who works on one run is told when nothing goes on because of a pause or a queue that is shut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.definition.catalogue import Catalogue
from orchestrator.engine.client import Client
from orchestrator.engine.queue_settings import set_queue
from orchestrator.engine.standstill import Standstill
from orchestrator.engine.worker import Worker
from orchestrator.errors import Blocked
from orchestrator.store.queues import QueueSettings
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

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
SPLIT = flow_of(
    """
flow: Split
handlers: tests.support.engine_handlers
start: Begin
steps:
  Begin: {go_to_many: [{step: Gated}, {step: Held}]}
  Gated: {execute: gated, dead_end: true}
  Held: {execute: attempt_of, graceful_complete: null}
"""
)
PARENT = flow_of(
    """
flow: Parent
handlers: tests.support.engine_handlers
start: Ask
steps:
  Ask: {wait_for: {until: {subflow: Chain, flow_id: child}}, graceful_complete: null}
"""
)
ASK = flow_of(
    """
flow: Ask
channels: {answer: {type: integer, external: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: answer}}, graceful_complete: null}
"""
)


def shut(kit: Kit, name: str, *routes: str) -> None:
    set_queue(kit.engine, name, lambda _: QueueSettings(routes=routes, concurrency=0))


def opened(kit: Kit, name: str, *routes: str) -> None:
    set_queue(kit.engine, name, lambda _: QueueSettings(routes=routes, concurrency=2))


def worked(kit: Kit, flow_id: str, then: Callable[[], object], **options: Any) -> list[tuple[str, list[str]]]:
    """What was told until the run was closed: text and commands. `then` follows each."""
    told: list[tuple[str, list[str]]] = []

    def note(hold: dict[str, Any]) -> None:
        assert hold["flow_id"] == flow_id
        told.append((hold["text"], [each["command"] for each in hold["help"]]))
        then()

    worker = Worker(kit.engine, concurrency=2)
    try:
        run = worker.run_until_closed(flow_id, on_hold=note, **options)
        assert run["status"] == "COMPLETED"
    finally:
        worker.stop(grace=PATIENCE)
    return told


def standstill_of(kit: Kit, flow_id: str, calls: list[int], *, until_blocked: bool = False) -> Standstill:
    return Standstill(
        engine=kit.engine,
        flow_id=flow_id,
        until_blocked=until_blocked,
        on_hold=lambda _: calls.append(1),
    )


def test_a_queue_that_is_shut_is_named_with_the_command_that_opens_it(kit: Kit) -> None:
    shut(kit, "line", "Chain/Second")
    kit.client.start(CHAIN, "run-1")
    told = worked(kit, "run-1", then=lambda: opened(kit, "line", "Chain/Second"))
    assert told == [
        (
            "Second-1 is ready, but the queue line is full: 0 of 0 run",
            ["orchestrator queues set line --concurrency N"],
        )
    ]


def test_so_is_a_queue_around_it(kit: Kit) -> None:
    shut(kit, "all")
    set_queue(kit.engine, "line", lambda _: QueueSettings(routes=("Chain",), concurrency=1, within="all"))
    kit.client.start(CHAIN, "run-1")
    told = worked(kit, "run-1", then=lambda: opened(kit, "all"))
    assert [commands for _, commands in told] == [["orchestrator queues set all --concurrency N"]]


@pytest.mark.parametrize(("step", "target"), [(None, "Chain"), ("First", "Chain/First")])
def test_a_pause_is_named_with_the_command_that_ends_it(kit: Kit, step: str | None, target: str) -> None:
    kit.client.start(CHAIN, "run-1")
    kit.client.pause("Chain", step)
    told = worked(kit, "run-1", then=lambda: kit.client.resume("Chain", step))
    assert told == [("First-1 is paused", [f"orchestrator resume {target}"])]


def test_each_hold_is_told(kit: Kit) -> None:
    shut(kit, "line", "Chain/First")
    kit.client.start(CHAIN, "run-1")
    kit.client.pause("Chain", "Second")

    def lift_one_after_the_other() -> Iterator[None]:
        opened(kit, "line", "Chain/First")
        yield
        kit.client.resume("Chain", "Second")
        yield

    lifts = lift_one_after_the_other()

    told = worked(kit, "run-1", then=lambda: next(lifts))
    assert [text for text, _ in told] == [
        "First-1 is ready, but the queue line is full: 0 of 0 run",
        "Second-1 is paused",
    ]


def test_nothing_is_told_while_something_goes_on(kit: Kit) -> None:
    gate = engine_handlers.gates["Gated"] = Gate()
    shut(kit, "line", "Split/Held")
    kit.client.start(SPLIT, "run-1")
    calls: list[int] = []
    with kit.working() as worker:
        gate.await_arrival()
        standstill = standstill_of(kit, "run-1", calls)
        assert (standstill.look(), calls) == (False, [])
        gate.open()
        kit.await_phase("queued")
        assert [standstill.look() for _ in range(3)] == [False, False, False]
        assert calls == [1], "it is said once"
        opened(kit, "line", "Split/Held")
        worker.run_until_closed("run-1")


def test_who_waits_for_a_subflow_is_told_what_holds_it(kit: Kit) -> None:
    client = Client(kit.engine, flows=Catalogue([CHAIN]))
    shut(kit, "line", "Chain")
    client.start(PARENT, "parent")
    told = worked(kit, "parent", then=lambda: opened(kit, "line", "Chain"))
    assert told[0][0] == "First-1 of child is ready, but the queue line is full: 0 of 0 run"
    assert len(told) == 1


def test_a_run_that_waits_for_a_client_is_not_held(kit: Kit) -> None:
    kit.client.start(ASK, "run-1")
    shut(kit, "line", "Chain")
    calls: list[int] = []
    assert standstill_of(kit, "run-1", calls).look() is False
    kit.client.pause("Ask")
    assert standstill_of(kit, "run-1", calls).look() is False
    assert calls == []


def test_who_would_not_wait_is_told_by_the_error(kit: Kit) -> None:
    kit.client.start(CHAIN, "run-1")
    kit.client.pause("Chain")
    calls: list[int] = []
    with pytest.raises(Blocked, match="First-1 is paused"):
        standstill_of(kit, "run-1", calls, until_blocked=True).look()
    assert calls == []
