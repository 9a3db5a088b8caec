"""Parents and children on the real engine: one transaction from run to run (rules 173-180)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.views import wait_text
from orchestrator.core.travel import Target
from orchestrator.definition.catalogue import Catalogue
from orchestrator.definition.model import Flow
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.submission import Start
from orchestrator.engine.worker import Worker
from tests.support.engine_kit import Kit, another_store, flow_of

CHILD_TEXT = """
flow: Child
handlers: tests.support.engine_handlers
input: integer
output: integer
channels: {go: {type: integer, external: true}}
start: Work
steps:
  Work:
    input: integer
    decide:
      - {when: input < 0, force_fail: "below zero"}
      - {when: input == 0, go_to: Hold}
      - {go_to: {step: Double, input: "${input}"}}
  Hold: {wait_for: {until: {channel: go}}, graceful_complete: "${wait.go.message}"}
  Double: {input: integer, execute: double, graceful_complete: "${result}"}
"""
CHILD = flow_of(CHILD_TEXT)
PARENT_TEXT = """
flow: Parent
types:
  Ask:
    type: object
    properties: {number: {type: integer}, flow_id: {type: string}}
    required: [number, flow_id]
input: Ask
output: any
channels: {stop: {type: string, external: true}}
start: Ask
steps:
  Ask:
    input: Ask
    wait_for:
      any_of:
        - {subflow: Child, input: "${input.number}", flow_id: "${input.flow_id}", REUSE if_abandoned: cancel}
        - {channel: stop}
      on_failure: proceed
    decide:
      - {when: failure != null, force_complete: "${failure.message}"}
      - {force_complete: "${wait.Child}"}
"""


def parent(reuse: str = "") -> Flow:
    return flow_of(PARENT_TEXT.replace("REUSE", f"reuse: {reuse}," if reuse else ""))


PARENT = parent()
FAMILY = flow_of(
    """
flow: Family
input: integer
output: integer
start: Ask
steps:
  Ask:
    input: integer
    decide:
      - {when: input == 0, graceful_complete: 0}
      - {go_to: {step: Deeper, input: "${input}"}}
  Deeper:
    input: integer
    wait_for: {until: {subflow: Family, input: "${input - 1}"}}
    graceful_complete: "${wait.Family.output + 1}"
"""
)
MANY = flow_of(
    """
flow: Many
input: list of integer
output: list of integer
start: Ask
steps:
  Ask:
    input: list of integer
    wait_for: {all_of: [{for_each: "${input}", subflow: Child, input: "${item}"}]}
    graceful_complete: "${wait.Child.map(each, each.output)}"
"""
)


def client_of(kit: Kit) -> Client:
    return Client(kit.engine, flows=Catalogue([CHILD]))


def ask(number: int, flow_id: str = "child") -> dict[str, Any]:
    return {"number": number, "flow_id": flow_id}


def output_of(kit: Kit, flow_id: str) -> Any:
    run = kit.client.describe(flow_id)
    assert run["status"] == "COMPLETED", run["error"]
    return run["outputs"][0]["output"]


@contextmanager
def batches(kit: Kit) -> Iterator[list[dict[str, str]]]:
    """Status by flow id of the runs that each transaction changed."""
    seen: list[dict[str, str]] = []
    note = kit.engine.committer.on_commit

    def look(batch: Batch) -> None:
        seen.append({entry.run.flow_id: str(entry.run.status) for entry in batch.entries.values()})
        note(batch)

    kit.engine.committer.on_commit = look
    yield seen
    kit.engine.committer.on_commit = note


@pytest.mark.rule(173)
@pytest.mark.rule(174)
@pytest.mark.rule(175)
def test_a_parent_learns_what_its_child_ended_with(kit: Kit) -> None:
    client_of(kit).start(MANY, "many", [3, 4])
    kit.settle()
    assert output_of(kit, "many") == [6, 8]
    assert output_of(kit, "SubFlow:many-Ask-1-1") == 8


@pytest.mark.rule(175)
def test_a_child_that_fails_does_not_fail_its_parent(kit: Kit) -> None:
    client_of(kit).start(PARENT, "parent", ask(-1))
    kit.settle()
    result = output_of(kit, "parent")
    assert (result["status"], result["outputs"]) == ("FAILED", [])
    assert result["error"] == {"type": "force_fail", "message": "below zero"}


def test_ends_and_starts_reach_the_other_run_in_the_same_transaction(kit: Kit) -> None:
    client = client_of(kit)
    with batches(kit) as seen:
        client.start(PARENT, "parent", ask(0))
        client.publish("child", "go", 5)
    assert seen[0] == {"parent": "RUNNING", "child": "RUNNING"}
    assert seen[-1] == {"child": "COMPLETED", "parent": "COMPLETED"}


def test_a_parent_that_waits_says_for_which_child(kit: Kit) -> None:
    client = client_of(kit)
    client.start(PARENT, "parent", ask(0))
    kit.settle()
    (active,) = client.describe("parent")["active"]
    child = {"id": "Child", "kind": "subflow", "subflow": "child", "status": "RUNNING"}
    assert active["wait"]["any_of"][0] == child
    assert "for child or stop.for 1" in wait_text(active["wait"], kit.clock.now())


def test_a_flow_may_ask_for_itself_and_its_end_goes_up_the_chain(kit: Kit) -> None:
    kit.client.start(FAMILY, "family", 12)
    kit.settle()
    assert output_of(kit, "family") == 12


def test_a_hundred_children_report_once_each(kit: Kit) -> None:
    client_of(kit).start(MANY, "many", list(range(1, 101)))
    kit.settle()
    assert output_of(kit, "many") == [2 * number for number in range(1, 101)]


@pytest.mark.rule(177)
def test_a_child_that_runs_is_attached_to_and_tells_both_parents(kit: Kit) -> None:
    client = client_of(kit)
    client.start(PARENT, "one", ask(0))
    client.start(PARENT, "two", ask(0))
    kit.settle()
    client.publish("child", "go", 5)
    assert output_of(kit, "one")["output"] == output_of(kit, "two")["output"] == 5


@pytest.mark.rule(177)
@pytest.mark.parametrize(("first", "result"), [(3, 6), (-1, 8)])
def test_only_a_child_that_ended_abnormally_is_started_again(kit: Kit, first: int, result: int) -> None:
    client = client_of(kit)
    client.start(CHILD, "child", first)
    kit.settle()
    client.start(PARENT, "parent", ask(4))
    kit.settle()
    assert output_of(kit, "parent")["output"] == result


@pytest.mark.rule(178)
def test_attach_takes_even_an_abnormal_end(kit: Kit) -> None:
    client = client_of(kit)
    client.start(CHILD, "child", -1)
    kit.settle()
    client.start(parent("attach"), "parent", ask(4))
    kit.settle()
    assert output_of(kit, "parent")["status"] == "FAILED"


@pytest.mark.rule(178)
def test_always_restart_terminates_the_running_one_and_its_parent_learns_it(kit: Kit) -> None:
    client = client_of(kit)
    client.start(PARENT, "one", ask(0))
    kit.settle()
    client.start(parent("always_restart"), "two", ask(4))
    kit.settle()
    assert output_of(kit, "one")["status"] == "TERMINATED"
    assert output_of(kit, "two")["output"] == 8


def test_two_parents_that_restart_the_same_child_at_once(kit: Kit) -> None:
    """Both in one transaction: the second terminates a child that was never stored before."""
    client = client_of(kit)
    for name in ("one", "two"):
        kit.engine.committer.submit(Start(parent("always_restart"), name, name, ask(0), has_input=True))
    with batches(kit) as seen:
        kit.engine.lead()
    assert set(seen[0]) == {"one", "two", "child"}
    assert output_of(kit, "one")["status"] == "TERMINATED"
    client.publish("child", "go", 5)
    assert output_of(kit, "two")["output"] == 5


@pytest.mark.rule(179)
def test_a_child_left_behind_is_cancelled_if_the_wait_says_so(kit: Kit) -> None:
    client = client_of(kit)
    client.start(PARENT, "lost", ask(0, "a"))
    client.start(PARENT, "stopped", ask(0, "b"))
    client.start(MANY, "leaving", [0])
    kit.settle()
    client.publish("lost", "stop", "enough")
    client.stop("stopped")
    client.stop("leaving")
    assert client.describe("a")["status"] == client.describe("b")["status"] == "CANCELED"
    assert client.describe("SubFlow:leaving-Ask-1-0")["status"] == "RUNNING"


@pytest.mark.rule(176)
@pytest.mark.rule(195)
def test_a_parent_sent_back_into_its_wait_asks_for_the_same_child(kit: Kit) -> None:
    client = client_of(kit)
    client.start(PARENT, "parent", ask(0))
    kit.settle()
    client.publish("child", "go", 5)
    run_id = client.describe("child")["run_id"]
    history = client.history("parent")
    waiting_at = next(c["at"] for c in history if c["event"] == "WaitForSucceeded")
    assert waiting_at == history[0]["at"], "the clock stands still: go back by method"
    client.time_travel("parent", Target(execution_id="Ask-1", method="execute"))
    kit.settle()
    assert output_of(kit, "parent")["output"] == 5
    client.time_travel("parent", Target(execution_id="Ask-1", method="wait_for"))
    kit.settle()
    assert output_of(kit, "parent")["output"] == 5
    assert client.describe("child")["run_id"] == run_id


def test_a_child_sent_back_still_tells_the_parent_that_came_later(kit: Kit) -> None:
    client = client_of(kit)
    client.start(CHILD, "child", 0)
    kit.settle()
    client.start(PARENT, "parent", ask(0))
    kit.settle()
    client.time_travel("child")
    kit.settle()
    client.publish("child", "go", 7)
    assert output_of(kit, "parent")["output"] == 7


# --- Children that cannot be started ---


def test_a_type_that_nobody_knows_fails_the_wait(kit: Kit) -> None:
    kit.client.start(PARENT, "parent", ask(1))
    kit.settle()
    assert output_of(kit, "parent") == "no flow `Child` in the catalogue or in the store; stored: `Parent`"


def test_an_input_that_does_not_fit_fails_the_wait(kit: Kit) -> None:
    flow = flow_of(CHILD_TEXT.replace("input: integer", "input: {type: integer, minimum: 5}", 1))
    Client(kit.engine, flows=Catalogue([flow])).start(PARENT, "parent", ask(1))
    kit.settle()
    assert output_of(kit, "parent") == "input of Child: expected 5 or more, got 1"


def test_a_run_of_another_type_is_not_taken_for_the_child_and_not_stopped(kit: Kit) -> None:
    client = client_of(kit)
    other = flow_of("flow: Other\nchannels: {box: {type: integer, external: true}}\n")
    client.start(other, "child")
    client.start(PARENT, "parent", ask(1))
    kit.settle()
    assert output_of(kit, "parent") == "child is a run of Other, not of Child"
    assert client.describe("child")["status"] == "RUNNING"


def test_a_run_cannot_wait_for_itself(kit: Kit) -> None:
    client_of(kit).start(PARENT, "parent", ask(1, "parent"))
    kit.settle()
    assert output_of(kit, "parent") == "parent cannot wait for itself"


# --- Where a child's flow comes from ---


def test_the_latest_stored_definition_is_taken(kit: Kit) -> None:
    old = flow_of(CHILD_TEXT.replace('graceful_complete: "${result}"', "graceful_complete: -1"))
    kit.client.start(old, "old", 1)
    kit.client.start(CHILD, "new", 1)
    kit.client.start(PARENT, "parent", ask(4))
    kit.settle()
    assert output_of(kit, "parent")["output"] == 8


def test_children_beside_a_flow_file_are_stored_with_the_parent(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "parent.flow.yaml").write_text(PARENT_TEXT.replace("REUSE", ""))
    (tmp_path / "child.flow.yaml").write_text(CHILD_TEXT)
    kit.client.start(tmp_path / "parent.flow.yaml", "parent", ask(4))
    other = Engine(another_store(kit), clock=kit.clock)
    with Worker(other) as worker:
        worker.run_until_closed("parent")
    other.close()
    assert output_of(kit, "parent")["output"] == 8


def test_a_worker_finds_them_in_its_own_places(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "draft.flow.yaml").write_text("flow: Child\nsteps: 7\n")
    (tmp_path / "z.flow.yaml").write_text(CHILD_TEXT)
    kit.client.start(PARENT, "parent", ask(4))
    assert kit.phases("parent") == {"Ask-1": "queued"}, "nobody here knows the child: left to a worker"
    with Worker(kit.engine, flows=[tmp_path]) as worker:
        worker.run_until_closed("parent")
    assert output_of(kit, "parent")["output"] == 8


def test_parent_and_child_are_worked_on_by_different_processes(kit: Kit, tmp_path: Path) -> None:
    """The worker that has the parent cannot bind the child's handlers, and the other way round."""
    here, there = tmp_path / "here", tmp_path / "there"
    for place, text in (
        (here, "def once() -> None: ..."),
        (there, "def double(number: int) -> int: return 2 * number"),
    ):
        place.mkdir()
        (place / f"only_{place.name}.py").write_text(text)
    child = flow_of(CHILD_TEXT.replace("tests.support.engine_handlers", "only_there"))
    flow = flow_of(
        PARENT_TEXT.replace("REUSE", "")
        .replace("start: Ask", "handlers: only_here\nstart: First")
        .replace(
            "steps:", "steps:\n  First: {input: Ask, execute: once, go_to: {step: Ask, input: '${input}'}}"
        )
    )
    other = Engine(another_store(kit), clock=kit.clock)
    Client(kit.engine, flows=Catalogue([child])).start(flow, "parent", ask(4))
    with Worker(kit.engine, search_path=[here]), Worker(other, search_path=[there]):
        assert kit.client.wait("parent", 20)["status"] == "COMPLETED"
    other.close()
    assert output_of(kit, "parent")["output"] == 8
