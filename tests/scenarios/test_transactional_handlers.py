"""Handlers whose own writes to the database and whose result are one commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from orchestrator.errors import HandlerFailed, Rejected
from orchestrator.store.postgres_url import is_postgres
from tests.support import rpc_handlers
from tests.support.engine_kit import Kit, database_of, flow_of

BOOKING = flow_of(
    """
flow: Booking
handlers: tests.support.rpc_handlers
input: string
output: string
start: Book
steps:
  Book:
    input: string
    execute: {handler: book, transactional: true, retry: {initial_interval: 1ms, maximum_attempts: 2}}
    result: {name: booked, type: string}
    on_failure: Regret
    decide:
      - {when: booked == 'undecided', go_to: {step: Regret, input: "${dyn(1)}"}}
      - graceful_complete: "${booked}"
  Regret: {input: string, graceful_complete: "no ${input}: ${failure.type}"}
"""
)
KINDS = """
flow: Kinds
handlers: tests.support.rpc_handlers
output: any
start: Book
steps:
  Book:
    execute: {handler: %s, transactional: true, timeout: 300ms, retry: {maximum_attempts: 1}}
    input: string
    result: {type: string}
    on_failure: Regret
    graceful_complete: "${result}"
  Regret: {input: string, graceful_complete: "${failure.type}"}
input: string
"""
OFFICE = flow_of(
    """
flow: Office
handlers: tests.support.rpc_handlers
attributes: {last: string}
rpcs:
  book: {input: string, handler: book, transactional: true, result: {name: booked}, set: {last: "${booked}"}}
  book_only: {input: string, handler: book, transactional: true}
  book_and_refuse: {input: string, handler: book, transactional: true, decide: [{reject: "no"}]}
  bare: {handler: needs_connection}
"""
)


@pytest.fixture(autouse=True)
def _tables(kit: Kit) -> Iterator[None]:
    rpc_handlers.reset()
    number = "BIGINT GENERATED ALWAYS AS IDENTITY" if is_postgres(kit.path) else "INTEGER PRIMARY KEY"
    with database_of(kit).begin() as connection:
        connection.execute(text(f"CREATE TABLE bookings (id {number}, what TEXT)"))
    yield
    rpc_handlers.reset()
    with database_of(kit).begin() as connection:
        connection.execute(text("DROP TABLE bookings"))


def bookings(kit: Kit) -> list[str]:
    with database_of(kit).connect() as connection:
        return list(connection.execute(text("SELECT what FROM bookings ORDER BY id")).scalars())


def outcome(kit: Kit, flow: Any, what: str) -> Any:
    return kit.run(flow, "b-1", what)["outputs"][0]["output"]


def test_writes_and_result_are_one_commit(kit: Kit) -> None:
    assert outcome(kit, BOOKING, "room") == "room"
    assert bookings(kit) == ["room"]


def test_a_failed_attempt_leaves_none_of_its_writes(kit: Kit) -> None:
    flow = BOOKING
    kit.client.start(flow, "b-1", "raises")
    with kit.working() as worker:
        kit.await_phase("backing_off", "b-1")
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("b-1")
    assert run["outputs"][0]["output"] == "no raises: LookupError"
    assert rpc_handlers.seen == [1, 2]
    assert bookings(kit) == []


def test_a_retry_writes_once(kit: Kit) -> None:
    kit.client.start(BOOKING, "b-1", "flaky")
    with kit.working() as worker:
        kit.await_phase("backing_off", "b-1")
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("b-1")
    assert run["outputs"][0]["output"] == "flaky"
    assert bookings(kit) == ["flaky"]


def test_a_decision_that_fails_takes_the_handlers_writes_with_it(kit: Kit) -> None:
    kit.client.start(BOOKING, "b-1", "undecided")
    with kit.working() as worker:
        run = worker.run_until_closed("b-1")
    assert run["outputs"][0]["output"].startswith("no undecided: ")
    assert bookings(kit) == []


@pytest.mark.parametrize(
    ("handler", "what", "expected", "left"),
    [
        ("book_async", "room", "room", ["room"]),
        ("book_wrongly", "room", "InvalidResult", []),
        ("book", "slow", "Timeout", []),
        ("book", "breaks", "TransactionLost", []),
    ],
)
def test_every_way_a_call_can_end(kit: Kit, handler: str, what: str, expected: str, left: list[str]) -> None:
    assert outcome(kit, flow_of(KINDS % handler), what) == expected
    assert bookings(kit) == left


def test_others_are_not_harmed_by_one_that_breaks_the_transaction(kit: Kit) -> None:
    kit.client.start(flow_of(KINDS % "book"), "b-1", "breaks")
    kit.client.start(BOOKING, "b-2", "room")
    with kit.working() as worker:
        worker.run_until_closed("b-1")
        assert worker.run_until_closed("b-2")["status"] == "COMPLETED"
    assert bookings(kit) == ["room"]


@pytest.mark.rule(167)
def test_an_rpc_writes_in_its_commit(kit: Kit) -> None:
    kit.client.start(OFFICE, "b-1")
    assert kit.client.rpc("b-1", "book", "room") == "room"
    assert (bookings(kit), kit.client.attributes("b-1")) == (["room"], {"last": "room"})
    with pytest.raises(HandlerFailed, match="LookupError: raises"):
        kit.client.rpc("b-1", "book", "raises")
    with pytest.raises(Rejected):
        kit.client.rpc("b-1", "book_and_refuse", "room")
    assert bookings(kit) == ["room"]


@pytest.mark.rule(170)
def test_a_repeated_request_writes_once_even_where_the_run_is_closed(kit: Kit) -> None:
    kit.client.start(OFFICE, "b-1")
    kit.client.rpc("b-1", "book_only", "room", request_id="one")
    kit.client.stop("b-1")
    for _ in range(2):
        kit.client.rpc("b-1", "book_only", "room", request_id="one")
        kit.client.rpc("b-1", "book_only", "table", request_id="two")
    assert bookings(kit) == ["room", "table"]


def test_a_handler_that_is_not_transactional_has_no_connection(kit: Kit) -> None:
    kit.client.start(OFFICE, "b-1")
    with pytest.raises(HandlerFailed, match="declare `transactional: true`"):
        kit.client.rpc("b-1", "bare")
