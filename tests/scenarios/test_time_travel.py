"""Time travel on the real engine: rows rewritten, old leases void, what clients did done again."""

from datetime import timedelta

import pytest

from orchestrator.core.events import Message, MessagesPublished
from orchestrator.core.travel import Target
from orchestrator.definition.catalogue import Catalogue
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.submission import Request, Travel
from orchestrator.engine.worker import Worker
from orchestrator.errors import InvalidValue, NotFound
from tests.support import engine_handlers
from tests.support.engine_kit import Gate, Kit, another_store, flow_of

TRAVEL = flow_of(
    """
flow: Travel
handlers: tests.support.engine_handlers
attributes: {total: {type: integer, initial: 0}}
channels: {go: {type: integer, external: true}}
start: First
steps:
  First: {execute: note, set: {total: "${attributes.total + 1}"}, go_to: Second}
  Second:
    wait_for: {any_of: [{channel: go}, {timer: 1d, id: late}]}
    set: {total: "${attributes.total + 10}"}
    decide:
      - {when: attributes.total > 20, graceful_complete: "${attributes.total}"}
      - {go_to: Second}
"""
)
GATED = flow_of(
    """
flow: Gated
handlers: tests.support.engine_handlers
start: Work
steps:
  Work: {execute: gated, result: {type: integer, name: count}, graceful_complete: "${count}"}
"""
)


def finished(kit: Kit) -> None:
    kit.client.start(TRAVEL, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        for number in (1, 2, 3):
            kit.clock.advance(minutes=1)
            kit.client.publish("run-1", "go", number)
            worker.run_until_idle()
    run = kit.client.describe("run-1")
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", 21)


@pytest.mark.rule(4)
@pytest.mark.rule(195)
def test_a_closed_run_goes_on_as_its_next_attempt(kit: Kit) -> None:
    finished(kit)
    before = kit.client.describe("run-1")
    travelled = kit.client.time_travel("run-1", reapply=False)
    assert (travelled.run_id, travelled.run_attempt, travelled.forked_at) == (before["run_id"], 2, 1)
    run = kit.client.describe("run-1")
    assert (run["status"], run["run_attempt"], run["outputs"]) == ("RUNNING", 2, [])
    assert run["attributes"] == {"total": 0}
    assert kit.phases() == {"First-1": "queued"}
    assert kit.events()[-1] == "TimeTravelled"
    with kit.working() as worker:
        worker.run_until_idle()
    assert engine_handlers.calls["First-1"] == 2
    assert kit.phases() == {"Second-1": "waiting"}


@pytest.mark.rule(194)
def test_what_clients_published_is_published_again(kit: Kit) -> None:
    finished(kit)
    kit.client.time_travel("run-1")
    assert kit.client.describe("run-1")["channels"] == {"go": {"size": 3}}
    with kit.working() as worker:
        run = worker.run_until_closed("run-1")
    assert (run["status"], run["run_attempt"], run["outputs"][0]["output"]) == ("COMPLETED", 2, 21)


@pytest.mark.rule(191)
@pytest.mark.rule(192)
@pytest.mark.rule(193)
def test_back_to_one_execution(kit: Kit) -> None:
    finished(kit)
    kit.client.time_travel("run-1", Target(execution_id="Second-2", method="wait_for"), reapply=False)
    run = kit.client.describe("run-1")
    assert run["attributes"] == {"total": 11}
    with kit.working() as worker:
        worker.run_until_idle()
        assert kit.phases() == {"Second-2": "waiting"}
        kit.client.publish("run-1", "go", 7)
        worker.run_until_idle()
    assert kit.phases() == {"Second-3": "waiting"}


@pytest.mark.rule(191)
def test_back_to_a_time(kit: Kit) -> None:
    finished(kit)
    ended_at = kit.clock.now()
    kit.client.time_travel("run-1", Target(time=ended_at - timedelta(seconds=90)), reapply=False)
    assert kit.client.describe("run-1")["attributes"] == {"total": 11}


@pytest.mark.rule(191)
def test_bad_targets_change_nothing(kit: Kit) -> None:
    finished(kit)
    commit_count = len(kit.events())
    with pytest.raises(NotFound, match="no execution of step Third"):
        kit.client.time_travel("run-1", Target(step="Third"))
    with pytest.raises(InvalidValue, match="with its method"):
        kit.client.time_travel("run-1", Target(execution_id="Second-1"))
    with pytest.raises(NotFound, match="no run run-2"):
        kit.client.time_travel("run-2")
    assert len(kit.events()) == commit_count


def test_a_handler_that_still_runs_for_the_old_attempt_changes_nothing(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    with kit.working() as worker:
        gate.await_arrival()
        kit.client.time_travel("run-1")
        gate.await_arrival()
        gate.open()
        gate.open()
        run = worker.run_until_closed("run-1")
    assert run["outputs"][0]["output"] == 2
    assert kit.events() == ["RunStarted", "TimeTravelled", "ExecuteSucceeded"]
    assert engine_handlers.seen_cancelled.count(True) == 1


def test_travel_by_another_process_voids_the_leases_here(kit: Kit) -> None:
    gate = engine_handlers.gates["Work"] = Gate()
    kit.client.start(GATED, "run-1")
    other = Client(Engine(another_store(kit), clock=kit.clock))
    with kit.working() as worker:
        gate.await_arrival()
        other.time_travel("run-1")
        gate.await_arrival()
        gate.open()
        gate.open()
        run = worker.run_until_closed("run-1")
        worker.run_until_idle()
    other.engine.close()
    assert run["outputs"][0]["output"] == 2
    assert kit.events() == ["RunStarted", "TimeTravelled", "ExecuteSucceeded"]


def test_the_other_process_catches_up_with_a_travel(kit: Kit) -> None:
    finished(kit)
    other = Client(Engine(another_store(kit), clock=kit.clock))
    other.time_travel("run-1", reapply=False)
    with Worker(other.engine) as worker:
        worker.run_until_idle()
    kit.client.publish("run-1", "go", 1)
    other.publish("run-1", "go", 2)
    kit.client.publish("run-1", "go", 3)
    assert kit.events() == [commit["event"] for commit in other.history("run-1")]
    assert kit.client.describe("run-1") == other.describe("run-1")
    other.engine.close()


def test_a_travel_sees_what_came_in_the_same_transaction(kit: Kit) -> None:
    kit.client.start(TRAVEL, "run-1")
    kit.engine.committer.is_paused = True
    messages = (Message("go", 1, None),)
    publish = Request("run-1", lambda at: MessagesPublished(at=at, messages=messages))
    travel = Travel("run-1", Target(), reapplies=True)
    kit.engine.submit(publish)
    kit.engine.submit(travel)
    kit.engine.committer.is_paused = False
    kit.engine.lead()
    assert travel.receipt.result().run_attempt == 2
    assert kit.client.describe("run-1")["channels"] == {"go": {"size": 1}}
    assert kit.events() == ["RunStarted", "MessagesPublished", "TimeTravelled"]


PARENT = flow_of(
    """
flow: Parent
handlers: tests.support.engine_handlers
output: string
start: Ask
steps:
  Ask:
    wait_for: {until: {subflow: Child, id: child}}
    execute: note
    graceful_complete: "${wait.child.output}"
"""
)
CHILD = flow_of(
    """
flow: Child
output: string
channels: {answer: {type: string, external: true}}
start: Wait
steps:
  Wait: {wait_for: {until: {channel: answer}}, graceful_complete: "${wait.answer.message}"}
"""
)


@pytest.mark.rule(176)
def test_a_kept_wait_asks_for_its_child_again(kit: Kit) -> None:
    """The child has closed since: the parent's new attempt gets its result, no other child is started."""
    client = Client(kit.engine, flows=Catalogue([PARENT, CHILD]))
    client.start(PARENT, "parent")
    with kit.working() as worker:
        worker.run_until_idle()
        (child,) = [run["flow_id"] for run in client.search() if run["flow"] == "Child"]
        waiting_at = kit.clock.now()
        kit.clock.advance(minutes=1)
        client.publish(child, "answer", "yes")
        assert worker.run_until_closed("parent")["outputs"][0]["output"] == "yes"
        before = client.describe(child)
        client.time_travel("parent", Target(time=waiting_at))
        run = worker.run_until_closed("parent")
    assert (run["run_attempt"], run["outputs"][0]["output"]) == (2, "yes")
    assert client.describe(child) == before
    assert engine_handlers.calls["Ask-1"] == 2


def test_a_child_that_travels_tells_its_parent_once_more_in_vain(kit: Kit) -> None:
    client = Client(kit.engine, flows=Catalogue([PARENT, CHILD]))
    client.start(PARENT, "parent")
    with kit.working() as worker:
        worker.run_until_idle()
        (child,) = [run["flow_id"] for run in client.search() if run["flow"] == "Child"]
        client.publish(child, "answer", "yes")
        worker.run_until_closed("parent")
        commit_count = len(client.history("parent"))
        client.time_travel(child, reapply=False)
        worker.run_until_idle()
        client.publish(child, "answer", "no")
        assert worker.run_until_closed(child)["outputs"][0]["output"] == "no"
    assert len(client.history("parent")) == commit_count


CLOSED_BY_A_MESSAGE = flow_of(
    """
flow: Answered
attributes: {last: string}
channels: {answer: {type: string, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {until: {channel: answer}}
    set: {last: "${wait.answer.message}"}
    graceful_complete: "${wait.answer.message}"
"""
)


@pytest.mark.rule(194)
def test_a_message_that_is_published_again_closes_the_run_again(kit: Kit) -> None:
    kit.client.start(CLOSED_BY_A_MESSAGE, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.client.publish("run-1", "answer", "yes")
        kit.clock.advance(minutes=1)
        kit.client.time_travel("run-1", Target(execution_id="Wait-1", method="execute"))
        run = kit.client.wait("run-1", timeout=5)
    assert (run["status"], run["run_attempt"], run["outputs"][0]["output"]) == ("COMPLETED", 2, "yes")
    assert (run["attributes"], run["active"]) == ({"last": "yes"}, [])
    assert kit.differences == kit.differing_replays() == []
