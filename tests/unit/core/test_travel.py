"""Time travel (rules 191-196)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.changes import Change
from orchestrator.core.events import Event, TimerSkipped
from orchestrator.core.invariants import check
from orchestrator.core.transition import evolve
from orchestrator.core.travel import Recorded, Target, travel
from orchestrator.errors import InvalidValue, NotFound
from tests.support.play import START, Play

FLOW = """
flow: Travel
attributes: {n: {type: integer, initial: 0}}
channels: {go: {type: integer, external: true}}
start: First
steps:
  First: {execute: first, set: {n: "${attributes.n + 1}"}, go_to: Second}
  Second:
    wait_for: {any_of: [{channel: go}, {timer: 1d}]}
    execute: second
    set: {n: "${attributes.n + 10}"}
    decide:
      - {when: attributes.n > 30, graceful_complete: "${wait.go.message}"}
      - {go_to: Second}
rpcs:
  bump: {set: {n: "${attributes.n + 100}"}}
"""


WAITERS = """
flow: Waiters
channels: {go: {type: integer, external: true}, off: {type: integer, external: true}}
start: Fork
steps:
  Fork: {go_to_many: [Waiter, Canceller, Closer]}
  Waiter: {wait_for: {until: {channel: go, for: 2}}, go_to: Next}
  Canceller: {wait_for: {until: {channel: off}}, cancel: [Waiter], dead_end: true}
  Closer: {wait_for: {until: {channel: go, for: 3}}, force_complete: done}
  Next: {execute: next, dead_end: true}
rpcs:
  begin: {go_to: Next}
"""


class Traveller(Play):
    """Keeps the history as the store does."""

    def __init__(self, text: str) -> None:
        self.recorded: list[Recorded] = []
        super().__init__(text)

    def send(self, event: Event) -> list[Change]:
        changes = super().send(event)
        if changes:
            self.recorded.append(Recorded(self.run.version, event.at, changes, event))
        return changes

    def travel(self, reapplies: bool = True, **target: Any) -> None:
        changes = travel(self.flow, self.recorded, Target(**target), self.now, reapplies=reapplies)
        evolve(self.run, changes)
        self.recorded.append(Recorded(self.run.version, self.now, changes))
        check(self.run)
        self.settle()


def finished() -> Traveller:
    play = Traveller(FLOW)
    play.succeed("First-1")
    for number in range(1, 5):
        play.publish("go", number)
        play.advance(60)
        play.succeed(f"Second-{number}")
    assert (play.run.status, play.outputs) == ("COMPLETED", [4])
    return play


@pytest.mark.rule(191)
@pytest.mark.rule(195)
@pytest.mark.rule(4)
def test_a_closed_run_goes_back_to_its_beginning_as_the_next_attempt() -> None:
    play = finished()
    play.travel(reapplies=False)
    assert (play.run.status, play.run.attempt, play.run.run_id) == ("RUNNING", 2, "r")
    assert play.active == ["First-1"]
    assert play.attributes == {"n": 0}
    assert play.outputs == []


@pytest.mark.rule(194)
def test_what_clients_did_after_the_point_is_done_again() -> None:
    play = finished()
    play.travel()
    assert play.unread("go") == [1, 2, 3, 4]
    play.succeed("First-1")
    assert play.phase("Second-1") == "execute"


@pytest.mark.rule(194)
def test_rpcs_are_done_again_unless_skipped() -> None:
    for reapplies, number in ((True, 100), (False, 0)):
        play = Traveller(FLOW)
        play.rpc("bump")
        play.succeed("First-1")
        play.travel(reapplies=reapplies)
        assert play.attributes == {"n": number}


@pytest.mark.rule(192)
@pytest.mark.rule(193)
def test_execute_keeps_the_wait_result_and_numbers_resume_from_the_point() -> None:
    play = finished()
    play.travel(execution_id="Second-2", method="execute", reapplies=False)
    assert play.active == ["Second-2"]
    assert play.phase("Second-2") == "execute"
    assert play.attributes == {"n": 11}
    play.succeed("Second-2")
    assert play.active == ["Second-3"]


@pytest.mark.rule(193)
def test_wait_for_evaluates_the_wait_anew() -> None:
    play = finished()
    play.travel(execution_id="Second-2", method="wait_for", reapplies=False)
    assert play.phase("Second-2") == "waiting"


@pytest.mark.rule(191)
def test_a_step_means_its_first_execution_and_a_time_the_last_commit_before() -> None:
    play = finished()
    play.travel(step="Second", reapplies=False)
    assert play.active == ["Second-1"]
    play = finished()
    play.travel(time=START + timedelta(seconds=61), reapplies=False)
    assert play.active == ["Second-2"]


@pytest.mark.rule(195)
def test_a_second_travel_sees_only_the_timeline_that_was_kept() -> None:
    play = finished()
    play.travel(execution_id="Second-2", method="execute", reapplies=False)
    with pytest.raises(NotFound, match="Second-3"):
        play.travel(execution_id="Second-3", method="execute")
    play.travel(execution_id="Second-1", method="execute", reapplies=False)
    assert (play.active, play.run.attempt) == (["Second-1"], 3)


@pytest.mark.rule(194)
def test_timer_skips_are_done_again() -> None:
    play = Traveller(FLOW)
    play.succeed("First-1")
    play.send(TimerSkipped(at=play.now, execution_id="Second-1"))
    play.travel(execution_id="Second-1", method="wait_for")
    assert play.phase("Second-1") == "execute"


@pytest.mark.rule(191)
def test_bad_targets_are_refused() -> None:
    play = finished()
    with pytest.raises(InvalidValue, match="with its method"):
        play.travel(execution_id="Second-1")
    with pytest.raises(InvalidValue, match="one target"):
        play.travel(step="Second", execution_id="Second-1", method="execute")
    with pytest.raises(NotFound, match="no execution"):
        play.travel(step="Third")
    with pytest.raises(NotFound, match="had not started"):
        play.travel(time=START - timedelta(days=1))


@pytest.mark.rule(191)
def test_an_execution_that_was_cancelled_in_its_wait_has_no_execute_to_go_back_to() -> None:
    play = Traveller(WAITERS)
    play.settle()
    play.publish("off", 1)
    play.publish("go", 1)
    with pytest.raises(InvalidValue, match="Waiter-1 has not reached its Execute"):
        play.travel(execution_id="Waiter-1", method="execute")


@pytest.mark.rule(194)
@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("force_complete: done", "COMPLETED"),
        ("graceful_complete: done", "COMPLETED"),
        ("force_fail: no", "FAILED"),
    ],
)
def test_what_is_done_again_may_close_the_run(outcome: str, status: str) -> None:
    play = Traveller(WAITERS.replace("force_complete: done", outcome))
    play.settle()
    play.publish("off", 1)
    play.publish("go", 1, 2, 3)
    assert play.run.status == status
    play.advance(60)
    play.travel(execution_id="Closer-1", method="execute")
    assert (play.run.status, play.run.closed_at, play.run.attempt) == (status, play.now, 2)
    assert play.outputs == ([] if status == "FAILED" else ["done"])


@pytest.mark.rule(191)
def test_a_time_after_the_close_means_the_last_point_before_it() -> None:
    play = finished()
    play.travel(time=play.now + timedelta(days=1))
    assert (play.run.status, play.active, play.phase("Second-4")) == ("RUNNING", ["Second-4"], "execute")


@pytest.mark.rule(191)
def test_an_execution_that_the_commit_started_and_closed_is_no_target() -> None:
    play = Traveller(WAITERS)
    play.settle()
    play.publish("go", 1, 2, 3, 4, 5)
    assert play.run.status == "COMPLETED"
    with pytest.raises(InvalidValue, match="closed the run: nothing goes on after it"):
        play.travel(step="Next")


@pytest.mark.rule(194)
@pytest.mark.rule(195)
def test_what_a_travel_does_again_is_part_of_its_timeline() -> None:
    play = Traveller(WAITERS)
    play.settle()
    play.rpc("begin")
    play.travel(step="Fork")
    assert "Next-1" in play.active
    play.succeed("Next-1")
    play.travel(execution_id="Next-1", method="execute")
    assert "Next-1" in play.active


@pytest.mark.rule(194)
def test_what_was_left_out_stays_left_out() -> None:
    play = Traveller(WAITERS)
    play.settle()
    play.publish("go", 1)
    play.travel(step="Fork", reapplies=False)
    play.settle()
    play.publish("go", 2)
    play.travel(step="Fork")
    assert play.unread("go") == [2]


@pytest.mark.rule(194)
def test_back_to_a_decision_that_a_travel_took_keeps_what_clients_did() -> None:
    play = Traveller(WAITERS)
    play.settle()
    play.publish("off", 1)
    play.publish("go", 1)
    for _ in range(2):
        play.travel(execution_id="Canceller-1", method="execute")
        assert play.active == ["Closer-1"]
        assert (play.unread("off"), play.unread("go")) == ([], [1])
