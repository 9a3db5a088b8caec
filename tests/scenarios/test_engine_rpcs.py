"""RPCs on the engine (rules 165-172)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.errors import (
    DefinitionInvalid,
    HandlerFailed,
    InvalidValue,
    LockConflict,
    NotActive,
    NotFound,
    Rejected,
)
from tests.support import rpc_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

ACCOUNT = flow_of(
    """
flow: Account
handlers: tests.support.rpc_handlers
attributes: {total: {type: integer, initial: 10}}
channels: {never: string, paid: {type: integer, leftover: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: never}}, graceful_complete: null}
  Audit: {input: integer, wait_for: {until: {timer: 1h}}, dead_end: true}
rpcs:
  balance: {output: integer, returns: "${attributes.total}"}
  deposit:
    input: integer
    output: integer
    decide:
      - when: input > 0
        set: {total: "${attributes.total + input}"}
        publish: {paid: "${input}"}
        go_to: {step: Audit, input: "${input}"}
        returns: ${attributes.total + input}
      - {reject: "a deposit is above 0, not ${string(input)}"}
  add: {input: integer, handler: add, may: {set: [total]}}
  add_locked: {input: integer, handler: add, locks: [total], may: {set: [total]}}
  add_async: {input: integer, handler: add_async, may: {set: [total]}}
  describe_call: {handler: "tests.support.engine_handlers:attempt_of"}
  refuse: {handler: refuse}
  fail: {handler: fail, may: {set: [total]}}
  fail_locked: {handler: fail, locks: [total], may: {set: [total]}}
  quit_at_once: {handler: quit_at_once}
  never_ends: {handler: never_ends, timeout: 50ms, may: {set: [total]}}
  never_ends_locked: {handler: never_ends, timeout: 50ms, locks: [total], may: {set: [total]}}
  beat_in_vain: {handler: beat_in_vain}
  publish: {handler: publish_from_inside, locks: [total], may: {set: [total]}}
  publish_async: {handler: publish_from_inside_async, locks: [total], may: {set: [total]}}
  wait: {handler: wait_inside, locks: [total], may: {set: [total]}}
  wait_async: {handler: wait_inside_async, locks: [total], may: {set: [total]}}
  close_wait: {cancel: [Wait]}
"""
)
HOLDER = flow_of(
    """
flow: Holder
handlers: tests.support.rpc_handlers
attributes: {total: {type: integer, initial: 10}}
output: string
start: Hold
steps:
  Hold: {execute: {handler: lock_and_call, locks: [total]}, graceful_complete: "${result}"}
rpcs:
  add_locked: {input: integer, locks: [total], set: {total: "${input}"}}
"""
)
CALLER = flow_of(
    """
flow: Caller
handlers: tests.support.rpc_handlers
input: string
output: list of integer
start: Call
steps:
  Call: {input: string, execute: call_another, go_to: {step: Again, input: "${input}"}}
  Again: {input: string, execute: call_another_async, graceful_complete: "${[result]}"}
"""
)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    rpc_handlers.reset()
    yield
    rpc_handlers.reset()


def total(kit: Kit) -> Any:
    return kit.client.attributes("a-1")["total"]


@pytest.mark.rule(165)
@pytest.mark.rule(171)
def test_an_rpc_without_handler_is_one_commit(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    before = len(kit.events("a-1"))
    assert kit.client.rpc("a-1", "deposit", 5) == 15
    assert kit.events("a-1")[before:][:1] == ["RpcCalled"]
    described = kit.client.describe("a-1", messages=True)
    assert described["attributes"] == {"total": 15}
    assert described["channels"]["paid"]["messages"] == [5]
    audit = described["active"][-1]
    assert (audit["step_execution_id"], audit["from"]) == ("Audit-1", "__rpc/deposit")


@pytest.mark.rule(166)
def test_a_rejected_call_commits_nothing(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    before = kit.events("a-1")
    with pytest.raises(Rejected, match="above 0, not -1"):
        kit.client.rpc("a-1", "deposit", -1)
    with pytest.raises(Rejected, match="not today"):
        kit.client.rpc("a-1", "refuse")
    with pytest.raises(InvalidValue, match="input of RPC deposit"):
        kit.client.rpc("a-1", "deposit", "x")
    with pytest.raises(NotFound, match="has no RPC withdraw"):
        kit.client.rpc("a-1", "withdraw")
    with pytest.raises(NotFound, match="no run b-1"):
        kit.client.rpc("b-1", "deposit", 1)
    assert kit.events("a-1") == before


@pytest.mark.rule(165)
@pytest.mark.rule(169)
@pytest.mark.parametrize("name", ["add", "add_locked", "add_async"])
def test_a_handler_runs_in_this_process_without_a_worker(kit: Kit, name: str) -> None:
    kit.client.start(ACCOUNT, "a-1")
    assert kit.client.rpc("a-1", name, 5) == 15
    assert kit.client.rpc("a-1", name, 5) == 20
    assert total(kit) == 20


@pytest.mark.rule(166)
@pytest.mark.parametrize("name", ["fail", "fail_locked"])
def test_what_a_handler_raises_reaches_the_caller_and_nothing_is_committed(kit: Kit, name: str) -> None:
    kit.client.start(ACCOUNT, "a-1")
    with pytest.raises(HandlerFailed, match="no such account") as raised:
        kit.client.rpc("a-1", name)
    assert raised.value.data["failure"] == {"type": "LookupError", "message": "no such account"}
    assert isinstance(raised.value.__cause__, LookupError)
    assert total(kit) == 10


def test_a_handler_that_quits_does_not_end_the_process(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    with pytest.raises(HandlerFailed, match="SystemExit"):
        kit.client.rpc("a-1", "quit_at_once")


@pytest.mark.rule(172)
@pytest.mark.parametrize("name", ["never_ends", "never_ends_locked"])
def test_a_call_has_a_time_limit(kit: Kit, name: str) -> None:
    kit.client.start(ACCOUNT, "a-1")
    with pytest.raises(HandlerFailed, match=r"not finished within 0\.05 s"):
        kit.client.rpc("a-1", name)
    assert kit.client.rpc("a-1", "add", 1) == 11


def in_background(kit: Kit, name: str, amount: int) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(kit.client.rpc("a-1", name, amount)))
    thread.start()
    return thread, answers


@pytest.mark.rule(167)
def test_reads_and_writes_of_a_plain_call_are_not_isolated(kit: Kit) -> None:
    rpc_handlers.gates["add"] = Gate()
    kit.client.start(ACCOUNT, "a-1")
    thread, answers = in_background(kit, "add", 1)
    rpc_handlers.gates["add"].await_arrival()
    kit.client.rpc("a-1", "deposit", 100)
    rpc_handlers.gates["add"].open()
    thread.join(PATIENCE)
    assert (answers, total(kit)) == ([11], 11)


@pytest.mark.rule(167)
def test_a_locking_call_reads_and_writes_in_one_step(kit: Kit) -> None:
    """The deposit is made while the other call is between reading and writing; it has to wait."""
    rpc_handlers.gates["add"] = Gate()
    kit.client.start(ACCOUNT, "a-1")
    locked, answers = in_background(kit, "add_locked", 1)
    rpc_handlers.gates["add"].await_arrival()
    other, deposited = in_background(kit, "deposit", 100)
    rpc_handlers.gates["add"].open()
    locked.join(PATIENCE)
    other.join(PATIENCE)
    assert (answers, deposited, total(kit)) == ([11], [111], 111)


@pytest.mark.rule(107)
def test_a_locking_call_fails_at_once_when_a_step_holds_the_lock(kit: Kit) -> None:
    run = kit.run(HOLDER, "a-1")
    assert run["outputs"][0]["output"] == "Hold-1"
    with pytest.raises(NotActive):
        kit.client.rpc("a-1", "add_locked", 1)


def test_the_conflict_names_the_lock(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Held
handlers: tests.support.rpc_handlers
attributes: {total: {type: integer, initial: 0}}
start: Hold
steps:
  Hold: {execute: {handler: add, locks: [total], may: {set: [total]}}, input: integer, dead_end: true}
input: integer
rpcs:
  add_locked: {input: integer, handler: add, locks: [total], may: {set: [total]}}
"""
    )
    rpc_handlers.gates["add"] = Gate()
    kit.client.start(flow, "a-1", 1)
    with kit.working():
        rpc_handlers.gates["add"].await_arrival()
        del rpc_handlers.gates["add"]
        with pytest.raises(LockConflict, match="attribute total is locked by Hold-1"):
            kit.client.rpc("a-1", "add_locked", 1)


@pytest.mark.rule(168)
@pytest.mark.rule(21)
def test_a_closed_run_answers_what_changes_nothing(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    kit.client.stop("a-1")
    before = kit.events("a-1")
    assert kit.client.rpc("a-1", "balance") == 10
    assert kit.client.rpc("a-1", "describe_call") == 1
    for name in ("deposit", "add", "add_locked"):
        with pytest.raises(NotActive, match="has effects"):
            kit.client.rpc("a-1", name, 1)
    assert kit.events("a-1") == before


def test_what_changes_nothing_leaves_no_history(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    before = kit.events("a-1")
    assert kit.client.rpc("a-1", "balance") == 10
    assert kit.events("a-1") == before


@pytest.mark.rule(170)
@pytest.mark.parametrize("name", ["deposit", "add", "add_locked"])
def test_a_repeated_request_is_executed_once(kit: Kit, name: str) -> None:
    kit.client.start(ACCOUNT, "a-1")
    answers = [kit.client.rpc("a-1", name, 5, request_id=id) for id in ("one", "one", "two")]
    assert answers == [15, 15, 20]
    assert total(kit) == 20


@pytest.mark.rule(170)
def test_two_repeats_at_once_are_executed_once(kit: Kit) -> None:
    rpc_handlers.gates["add"] = Gate()
    kit.client.start(ACCOUNT, "a-1")
    answers: list[Any] = []

    def call() -> None:
        answers.append(kit.client.rpc("a-1", "add", 5, request_id="one"))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
        rpc_handlers.gates["add"].await_arrival()
    rpc_handlers.gates["add"].open(2)
    for thread in threads:
        thread.join(PATIENCE)
    assert (answers, total(kit)) == ([15, 15], 15)


@pytest.mark.rule(132)
def test_a_call_cancels_steps(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    kit.client.rpc("a-1", "close_wait")
    assert kit.phases("a-1") == {}
    assert kit.client.describe("a-1")["status"] == "RUNNING"


def test_handlers_call_other_runs_plain_and_async(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    run = kit.run(CALLER, "caller", "a-1")
    assert run["outputs"][0]["output"] == [12]
    assert total(kit) == 12


def test_a_client_can_be_awaited(kit: Kit) -> None:
    async def deposit() -> list[Any]:
        await kit.client.aio.start(ACCOUNT, "a-1")
        return await asyncio.gather(*(kit.client.aio.rpc("a-1", "deposit", 1) for _ in range(5)))

    assert sorted(asyncio.run(deposit())) == [11, 12, 13, 14, 15]


@pytest.mark.parametrize("name", ["publish", "publish_async", "wait", "wait_async"])
def test_a_handler_inside_the_transaction_cannot_wait_for_another_commit(kit: Kit, name: str) -> None:
    kit.client.start(ACCOUNT, "a-1")
    with pytest.raises(HandlerFailed, match="inside the store's write transaction"):
        kit.client.rpc("a-1", name)
    assert kit.client.rpc("a-1", "deposit", 1) == 11


def test_an_rpc_sends_no_heartbeats(kit: Kit) -> None:
    kit.client.start(ACCOUNT, "a-1")
    with pytest.raises(HandlerFailed, match="has one attempt and no heartbeats"):
        kit.client.rpc("a-1", "beat_in_vain")


def test_a_handler_that_cannot_be_found_here_is_said_before_anything(kit: Kit) -> None:
    flow = flow_of("flow: Lost\nhandlers: tests.support.rpc_handlers\nrpcs: {find: {handler: nowhere}}\n")
    kit.client.start(flow, "a-1")
    with pytest.raises(DefinitionInvalid, match="no function `nowhere`"):
        kit.client.rpc("a-1", "find")
