"""Tokens, cancels, waits that fail: what a flow author relies on (rules 83, 90, 91, 110-114, 132-137)."""

from __future__ import annotations

import pytest

from orchestrator.core.events import Message
from tests.support.play import Play

SECTION = """
flow: Section
channels:
  token: string
  extra: {type: string, external: true}
attributes: {log: {type: integer, initial: 0}}
start: Open
steps:
  Open:
    publish: {token: t}
    go_to_many: [Enter, Enter]
  Enter:
    wait_for: {until: {channel: token}}
    execute: {handler: enter, retry: {maximum_attempts: 2}}
    on_failure: Release
    go_to: Work
  Work:
    wait_for:
      handler: plan
      conditions: {extra: {channel: extra}}
      retry: {maximum_attempts: 1}
      on_failure: proceed
    execute: {handler: work, may: {publish: [token]}, retry: {maximum_attempts: 2}}
    on_failure: Release
    decide:
      - {when: wait_for_failed, publish: {token: t}, dead_end: true}
      - {publish: {token: t}, set: {log: "${attributes.log + 1}"}, dead_end: true}
  Release: {publish: {token: t}, dead_end: true}
"""


def entered() -> Play:
    """Enter-1 has the token and hands off to Work-1, which asks its handler what to wait for."""
    play = Play(SECTION)
    play.settle()
    assert play.unread("token") == []
    play.succeed("Enter-1")
    assert play.active == ["Enter-2", "Work-1"]
    return play


@pytest.mark.rule(90)
@pytest.mark.rule(113)
def test_a_holder_whose_wait_failed_notices_and_gives_the_token_back() -> None:
    play = entered()
    play.fail("Work-1")
    assert play.run.executions["Work-1"].has_wait_for_failed
    assert play.phase("Enter-2") == "waiting"
    play.succeed("Work-1")
    assert play.phase("Enter-2") == "execute"
    assert play.attributes == {"log": 0}


@pytest.mark.rule(114)
@pytest.mark.rule(113)
def test_attempts_that_fail_publish_nothing_and_the_route_gives_the_token_back_once() -> None:
    play = entered()
    play.wait("Work-1", "none")
    play.fail("Work-1")
    assert play.phase("Enter-2") == "waiting"
    play.advance(1)
    play.fail("Work-1")
    play.settle()
    assert play.phase("Enter-2") == "execute"
    assert play.unread("token") == []
    play.succeed("Enter-2")
    play.wait("Work-2", "none")
    play.succeed("Work-2")
    assert play.unread("token") == ["t"]


@pytest.mark.rule(114)
def test_a_result_that_is_not_accepted_publishes_nothing() -> None:
    play = entered()
    play.wait("Work-1", "none")
    play.succeed("Work-1", choice="unknown", publishes=(Message("token", "t"),))
    assert play.active == ["Enter-2"]
    assert play.phase("Enter-2") == "execute"
    assert play.unread("token") == []


@pytest.mark.rule(83)
def test_each_attempt_of_execute_has_the_messages_that_the_wait_took() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, external: true}}
        start: A
        steps:
          A: {wait_for: {until: {channel: c}}, execute: a, graceful_complete: "${wait.c.message}"}
        """
    )
    play.settle()
    play.publish("c", 1, 2)
    assert play.unread("c") == [2]
    play.fail("A-1")
    assert play.unread("c") == [2]
    play.advance(1)
    play.succeed("A-1")
    assert play.outputs == [1]


@pytest.mark.rule(91)
def test_timers_that_lost_are_gone_with_their_wait() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, external: true}}
        start: A
        steps:
          A: {wait_for: {any_of: [{channel: c}, {timer: 5s}]}, execute: a, dead_end: true}
        """
    )
    play.settle()
    play.publish("c", 1)
    play.advance(5)
    version = play.run.version
    play.settle()
    assert play.run.version == version
    execution = play.run.executions["A-1"]
    assert execution.wait is not None
    assert execution.wait.results is not None
    assert [result.has_fired for result in execution.wait.results] == [False, False]


CANCELLER = """
flow: Canceller
channels: {token: {type: string, leftover: true}}
start: Split
steps:
  Split:
    go_to_many: [Decider, Other, Other]
  Decider:
    execute: {handler: decide, may: {cancel: [Other]}}
    decide:
      - {choice: both, cancel: [Other], cancel_siblings: [Other], go_to: Other}
      - {dead_end: true}
  Other:
    wait_for: {set: {seen: x}}
    execute: {handler: other, may: {publish: [token]}}
    on_failure: Failed
    publish: {token: t}
    dead_end: true
  Failed: {publish: {token: failed}, dead_end: true}
attributes: {seen: string}
rpcs:
  more: {go_to: Other}
"""


@pytest.mark.rule(111)
@pytest.mark.rule(132)
def test_what_was_started_while_the_canceller_ran_is_cancelled_too() -> None:
    play = Play(CANCELLER)
    play.settle()
    play.rpc("more")
    assert play.active == ["Decider-1", "Other-1", "Other-2", "Other-3"]
    play.succeed("Decider-1", cancels=("Other",))
    assert play.active == []
    assert play.unread("token") == []


@pytest.mark.rule(110)
def test_cancelling_takes_no_failure_route_and_keeps_what_the_wait_saved() -> None:
    play = Play(CANCELLER)
    play.settle()
    play.fail("Other-1")
    play.succeed("Decider-1", cancels=("Other",))
    assert (play.active, play.unread("token")) == ([], [])
    assert play.attributes == {"seen": "x"}
    assert "Failed" not in play.run.counters


@pytest.mark.rule(136)
@pytest.mark.rule(133)
def test_selectors_of_decision_and_handler_add_up_and_the_wider_one_decides() -> None:
    play = Play(CANCELLER)
    play.settle()
    play.rpc("more")
    play.succeed("Decider-1", choice="both", cancels=("Other",))
    assert play.active == ["Other-4"]


@pytest.mark.rule(132)
def test_cancelling_what_is_not_there_does_nothing() -> None:
    play = Play(CANCELLER)
    play.settle()
    for execution_id in ("Other-1", "Other-2"):
        play.succeed(execution_id)
    play.succeed("Decider-1", cancels=("Other",))
    assert (play.active, play.unread("token")) == ([], ["t", "t"])


@pytest.mark.rule(109)
def test_messages_of_several_cancelled_together_take_back_their_order() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, external: true, leftover: true}}
        start: Split
        steps:
          Split: {go_to_many: [Stop, Take, Take]}
          Take: {wait_for: {until: {channel: c, for: 2}}, execute: take, dead_end: true}
          Stop: {execute: stop, cancel: [Take], dead_end: true}
        """
    )
    play.settle()
    play.publish("c", 1, 2, 3, 4, 5)
    assert play.unread("c") == [5]
    play.succeed("Stop-1")
    assert play.unread("c") == [1, 2, 3, 4, 5]


@pytest.mark.rule(137)
@pytest.mark.parametrize("branch_count", [0, 1, 4])
def test_branches_are_awaited_by_a_channel_and_their_count(branch_count: int) -> None:
    play = Play(
        """
        flow: F
        input: integer
        channels: {done: integer}
        start: Split
        steps:
          Split:
            input: integer
            go_to_many:
              - {for_each: "${range(input)}", as: n, step: Branch, input: "${n}"}
              - {step: Await, input: "${input}"}
          Branch: {input: integer, execute: branch, publish: {done: "${input}"}, dead_end: true}
          Await:
            input: integer
            wait_for: {until: {channel: done, for: "${input}"}}
            graceful_complete: "${wait.done.messages}"
        """,
        input=branch_count,
    )
    play.settle()
    for number in range(branch_count, 0, -1):
        assert play.run.status == "RUNNING"
        play.succeed(f"Branch-{number}")
    assert play.run.status == "COMPLETED"
    assert play.outputs == [list(range(branch_count - 1, -1, -1))]
