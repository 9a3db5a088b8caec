"""Pausing a flow type or a step: nothing is begun, nothing is lost."""

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.errors import Blocked, NotFound
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, another_store, flow_of

CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.engine_handlers
start: First
steps:
  First: {execute: attempt_of, go_to: Second}
  Second: {execute: attempt_of, result: {type: integer, name: attempt}, graceful_complete: "${attempt}"}
"""
)
OTHER = flow_of(
    """
flow: Other
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: attempt_of, graceful_complete: null}
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
    wait_for: {any_of: [{channel: go}, {timer: 10m, id: late}]}
    execute: attempt_of
    decide:
      - {when: wait.late.fired, graceful_complete: late}
      - {graceful_complete: "${string(wait.go.message)}"}
"""
)
GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, go_to: Rest}
  Rest: {execute: attempt_of, graceful_complete: null}
"""
)


def status(kit: Kit, flow_id: str) -> str:
    return str(kit.client.describe(flow_id)["status"])


def test_nothing_of_a_paused_flow_type_is_begun_until_it_is_resumed(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.start(OTHER, "other-1")
    assert kit.client.pause("Chain")
    with kit.working() as worker:
        worker.run_until_idle()
        assert status(kit, "other-1") == "COMPLETED"
        assert engine_handlers.calls == {"Work-1": 1}
        assert kit.phases("chain-1") == {"First-1": "queued"}
        assert kit.client.resume("Chain")
        run = worker.run_until_closed("chain-1")
    assert run["outputs"][0]["output"] == 1, "no attempt was consumed"


def test_a_paused_step_lets_the_others_work(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.pause("Chain", "Second")
    with kit.working() as worker:
        worker.run_until_idle()
        assert kit.phases("chain-1") == {"Second-1": "queued"}
        assert engine_handlers.calls == {"First-1": 1}
        kit.client.resume("Chain", "Second")
        worker.run_until_idle()
    assert status(kit, "chain-1") == "COMPLETED"


def test_what_runs_is_finished_and_what_follows_waits(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working() as worker:
        gate.await_arrival()
        kit.client.pause("Gated")
        gate.open()
        worker.run_until_idle()
        assert kit.phases() == {"Rest-1": "queued"}


def test_runs_started_while_paused_wait(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.pause("Chain")
    with kit.working() as worker:
        kit.client.start(CHAIN, "chain-2")
        worker.run_until_idle()
        assert engine_handlers.calls == {}
        kit.client.resume("Chain")
        worker.run_until_idle()
    assert (status(kit, "chain-1"), status(kit, "chain-2")) == ("COMPLETED", "COMPLETED")


def test_timers_that_come_due_meanwhile_fire_afterwards(kit: Kit) -> None:
    kit.client.start(TIMED, "timed-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.client.pause("Timed")
        kit.clock.advance(minutes=11)
        worker.run_until_idle()
        assert kit.phases("timed-1") == {"Wait-1": "waiting"}
        kit.client.resume("Timed")
        assert worker.run_until_closed("timed-1")["outputs"][0]["output"] == "late"


def test_messages_are_kept_while_paused(kit: Kit) -> None:
    kit.client.start(TIMED, "timed-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.client.pause("Timed")
        kit.client.publish("timed-1", "go", 7)
        worker.run_until_idle()
        assert status(kit, "timed-1") == "RUNNING"
        kit.client.resume("Timed")
        assert worker.run_until_closed("timed-1")["outputs"][0]["output"] == "7"


def test_a_worker_of_another_process_obeys_and_is_woken(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    other = Client(Engine(another_store(kit), clock=kit.clock))
    other.pause("Chain")
    with kit.working() as worker:
        worker.run_until_idle()
        assert engine_handlers.calls == {}
        other.resume("Chain")
        assert kit.client.wait("chain-1", timeout=10)["status"] == "COMPLETED"
    other.engine.close()


def test_pauses_are_durable(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.pause("Chain", "First")
    other = Client(Engine(another_store(kit), clock=kit.clock))
    described = other.describe("chain-1")
    other.engine.close()
    assert (described["paused"], described["active"][0]["paused"]) == (False, True)


def test_describe_and_list_say_paused(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.start(OTHER, "other-1")
    kit.client.pause("Chain")
    described = kit.client.describe("chain-1")
    assert (described["paused"], described["active"][0]["paused"]) == (True, True)
    assert {run["flow_id"]: run["paused"] for run in kit.client.search()} == {
        "chain-1": True,
        "other-1": False,
    }


def test_pausing_and_resuming_twice_changes_nothing(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    assert [kit.client.pause("Chain"), kit.client.pause("Chain")] == [True, False]
    assert [kit.client.resume("Chain"), kit.client.resume("Chain")] == [True, False]


def test_what_is_not_known_cannot_be_paused(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    with pytest.raises(NotFound, match="no run of a flow type Chian was ever started here; known: Chain"):
        kit.client.pause("Chian")
    with pytest.raises(NotFound, match="Chain has no step Third; there are: First, Second"):
        kit.client.pause("Chain", "Third")


def test_explain_names_the_pause_and_the_command_that_ends_it(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.pause("Chain", "First")
    explained = kit.client.explain("chain-1")
    assert (explained["verdict"], explained["summary"]) == ("waiting_for_outside", "First-1 is paused")
    (execution,) = explained["active"]
    assert execution["paused"]
    assert execution["help"] == [{"text": "let it go on", "command": "orchestrator resume Chain/First"}]
    kit.client.resume("Chain", "First")
    kit.client.pause("Chain")
    commands = [advice["command"] for advice in kit.client.explain("chain-1")["help"]]
    assert commands == ["orchestrator resume Chain"]


def test_working_until_blocked_ends_at_a_pause(kit: Kit) -> None:
    kit.client.start(CHAIN, "chain-1")
    kit.client.pause("Chain")
    with kit.working() as worker, pytest.raises(Blocked, match="First-1 is paused"):
        worker.run_until_closed("chain-1", until_blocked=True)


def test_a_running_execution_is_not_paused(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working() as worker:
        gate.await_arrival()
        kit.client.pause("Gated")
        assert kit.client.describe("run-1")["active"][0]["paused"] is False
        assert kit.client.explain("run-1")["verdict"] == "progressing"
        gate.open()
        worker.run_until_idle()
