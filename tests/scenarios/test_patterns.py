"""The patterns do what they show: their rehearsals, and what those cannot say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from handlers.patterns import scalable_parallel
from orchestrator import Context, NotActive, NotFound
from orchestrator.core.state import Status
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.rehearsal import read_rehearsals
from orchestrator.simulate.script import Rehearsal, RehearsalFile
from tests.support.rehearsed_examples import differences, flows_without_rehearsal, rehearsals_of
from tests.support.stage import ROOT

PATTERNS = ROOT / "flows" / "patterns"


@pytest.mark.parametrize(("file", "rehearsal"), rehearsals_of("patterns"))
def test_a_pattern_goes_as_rehearsed(file: RehearsalFile, rehearsal: Rehearsal) -> None:
    assert differences(file, rehearsal) == []


def test_every_pattern_is_rehearsed() -> None:
    assert flows_without_rehearsal("patterns") == []


# --- Rules that a pattern establishes ---


def differences_of(name: str, rehearsal: str) -> list[str]:
    file, problems = read_rehearsals(PATTERNS / f"{name}.rehearsal.yaml")
    assert file is not None, problems
    (found,) = [each for each in file.rehearsals if each.name == rehearsal]
    return differences(file, found)


@pytest.mark.rule(41)
def test_a_schedule_is_a_loop_on_a_timer() -> None:
    assert differences_of("cron", "runs and skips count alike") == []


@pytest.mark.rule(122)
def test_asking_for_completion_does_not_cut_the_consumer_off() -> None:
    assert differences_of("drain_internal_channel", "the consumer is slower than the producer") == []


@pytest.mark.rule(129)
def test_a_message_that_comes_during_the_work_keeps_the_run_open() -> None:
    assert differences_of("drain_external_channel", "messages that come during the work are not lost") == []


@pytest.mark.rule(11)
def test_a_flow_without_steps_lives_by_its_rpcs() -> None:
    assert differences_of("entity_store", "update and clear") == []


@pytest.mark.rule(141)
@pytest.mark.parametrize("rehearsal", ["three users", "nobody to notify"])
def test_the_joining_step_waits_for_every_branch(rehearsal: str) -> None:
    assert differences_of("parallel_with_await", rehearsal) == []


@pytest.mark.rule(154)
@pytest.mark.rule(152)
def test_undoing_is_a_chain_of_failure_routes() -> None:
    assert differences_of("recovery", "the charge fails for good") == []


@pytest.mark.rule(85)
def test_a_message_starts_the_timer_anew() -> None:
    assert differences_of("resettable_timer", "a reset starts the five minutes anew") == []


@pytest.mark.rule(175)
def test_the_parent_goes_on_whatever_became_of_a_child() -> None:
    assert differences_of("parent_child_subflows", "a child that fails does not fail its parent") == []


# --- Children started through the client ---


def children_of(name: str, rehearsal: str) -> dict[str, Status]:
    """The runs that came of a rehearsal beside its own, by flow id."""
    file, problems = read_rehearsals(PATTERNS / f"{name}.rehearsal.yaml")
    assert file is not None, problems
    (found,) = [each for each in file.rehearsals if each.name == rehearsal]
    performance = rehearse(file, found, bound=BoundFlows([ROOT]))
    assert performance.is_passed
    return {
        simulated.run.flow_id: simulated.run.status
        for simulated in performance.runs
        if simulated is not performance.simulated
    }


def test_each_task_has_a_child_with_a_flow_id_of_its_own() -> None:
    children = children_of("parent_child", "the loops wait for ever when all tasks are done")
    assert children == {f"child-wf-{task}": Status.COMPLETED for task in range(5)}


def test_a_child_whose_controller_is_closed_completes_all_the_same() -> None:
    children = children_of("resource_control", "shut down")
    assert list(children.values()) == [Status.COMPLETED, Status.COMPLETED]


# --- Handing over to a parent ---


@dataclass
class StandInClient:
    """A client whose RPCs give `answer`, or raise it."""

    answer: Any
    started: list[tuple[str, str]] = field(default_factory=list)

    def rpc(self, flow_id: str, name: str, input: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def start(self, flow: str, flow_id: str, input: object, **options: object) -> None:
        self.started.append((flow, flow_id))


@dataclass
class StandInContext:
    client: StandInClient
    idempotency_key: str = "request-1/HandOver-1"


REQUEST = scalable_parallel.Request("r1", parent_count=1, seconds=1.0)


def hand_over(client: StandInClient) -> str:
    return scalable_parallel.hand_over(cast(Context, StandInContext(client)), REQUEST)


def test_a_parent_with_room_takes_the_request() -> None:
    client = StandInClient(answer=True)
    assert hand_over(client) == "parent-0"
    assert client.started == []


def test_a_full_parent_fails_the_attempt() -> None:
    with pytest.raises(scalable_parallel.ParentIsFull):
        hand_over(StandInClient(answer=False))


@pytest.mark.parametrize("error", [NotFound("no such run"), NotActive("it is closed")])
def test_a_parent_that_is_not_there_is_started_with_the_request(error: Exception) -> None:
    client = StandInClient(answer=error)
    assert hand_over(client) == "parent-0"
    assert client.started == [("ScalableParallelParent", "parent-0")]
