"""Every kind of decision (rules 117-136)."""

from __future__ import annotations

import pytest

from tests.support.play import Play

FORK = """
flow: Fork
channels: {done: {type: integer, leftover: true}}
start: Split
steps:
  Split:
    execute: split
    result: {name: numbers, type: list of integer}
    go_to_many:
      - {for_each: "${numbers}", as: n, step: Work, input: "${n * 10}", when: n > 0}
      - Watch
  Work:
    input: integer
    execute: work
    publish: {done: "${input}"}
    dead_end: true
  Watch:
    execute: watch
    dead_end: true
"""


@pytest.mark.rule(117)
def test_go_to_many_starts_an_execution_for_each_element_whose_guard_holds() -> None:
    play = Play(FORK)
    play.succeed("Split-1", [1, 0, 3])
    assert play.active == ["Watch-1", "Work-1", "Work-2"]
    assert [play.run.executions[i].input for i in ("Work-1", "Work-2")] == [10, 30]


@pytest.mark.rule(12)
def test_executions_know_the_decider_they_come_from() -> None:
    play = Play(FORK)
    assert play.run.executions["Split-1"].origin == "__start__"
    play.succeed("Split-1", [1])
    assert play.run.executions["Work-1"].origin == "Split-1"


@pytest.mark.rule(120)
def test_a_dead_end_ends_the_branch_only_and_the_run_stays_open() -> None:
    play = Play(FORK)
    play.succeed("Split-1", [])
    play.succeed("Watch-1")
    assert play.active == []
    assert play.run.status == "RUNNING"


NONE_LEFT = """
flow: NoneLeft
output: text
types: {text: {type: string}}
start: Split
steps:
  Split:
    execute: split
    result: {name: numbers, type: list of integer}
    go_to_many:
      - {for_each: "${numbers}", as: n, step: Work, input: "${n}"}
    otherwise: {graceful_complete: nothing to do}
  Work:
    input: integer
    execute: work
    graceful_complete: worked
"""


def test_go_to_many_without_a_movement_left_takes_its_otherwise() -> None:
    play = Play(NONE_LEFT)
    play.succeed("Split-1", [])
    assert play.run.status == "COMPLETED"
    assert play.outputs == ["nothing to do"]


def test_go_to_many_with_a_movement_left_ignores_its_otherwise() -> None:
    play = Play(NONE_LEFT)
    play.succeed("Split-1", [7])
    assert play.active == ["Work-1"]


def test_go_to_many_without_a_movement_left_nor_otherwise_fails_the_step_without_retry() -> None:
    play = Play(NONE_LEFT.replace("    otherwise: {graceful_complete: nothing to do}\n", ""))
    play.succeed("Split-1", [])
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert "no movement of step Split is left" in play.run.error.message


CHOICES = """
flow: Choices
start: Pick
steps:
  Pick:
    execute: pick
    result: {name: n, type: integer}
    decide:
      - {choice: big, when: n > 100, force_complete: huge}
      - {choice: big, force_complete: big}
      - {when: n == 0, force_complete: zero}
      - {when: n > 0, go_to: {step: Next, input: "${n}"}}
  Next:
    input: integer
    execute: next
    dead_end: true
"""


@pytest.mark.parametrize(
    ("result", "choice", "output"),
    [(0, None, "zero"), (5, "big", "big"), (500, "big", "huge")],
)
def test_the_first_decision_that_holds_is_taken(result: int, choice: str | None, output: str) -> None:
    play = Play(CHOICES)
    play.succeed("Pick-1", result, choice)
    assert play.outputs == [output]


def test_without_a_choice_decisions_of_a_word_are_not_considered() -> None:
    play = Play(CHOICES)
    play.succeed("Pick-1", 500)
    assert play.active == ["Next-1"]


def test_a_word_that_no_decision_has_fails_the_step() -> None:
    play = Play(CHOICES)
    play.succeed("Pick-1", 1, "small")
    assert play.run.error is not None
    assert "no decision for choice small; known: big" in play.run.error.message


def test_no_decision_that_holds_fails_the_step_without_retry() -> None:
    play = Play(CHOICES)
    play.succeed("Pick-1", -1)
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert "no decision of step Pick holds" in play.run.error.message


GRACEFUL = """
flow: Graceful
start: Split
steps:
  Split:
    go_to_many: [Fast, Slow]
  Fast:
    execute: fast
    graceful_complete: fast
  Slow:
    execute: slow
    decide:
      - {choice: again, go_to: Slow}
      - {dead_end: true}
"""


@pytest.mark.rule(121)
@pytest.mark.rule(122)
def test_a_graceful_completion_waits_for_all_active_steps_and_is_never_withdrawn() -> None:
    play = Play(GRACEFUL)
    play.settle()
    play.succeed("Fast-1")
    assert play.run.status == "RUNNING"
    play.succeed("Slow-1", choice="again")
    assert play.run.status == "RUNNING"
    play.succeed("Slow-2")
    assert play.run.status == "COMPLETED"
    assert play.outputs == ["fast"]


@pytest.mark.rule(127)
def test_a_failure_after_a_graceful_completion_loses_its_output() -> None:
    play = Play(GRACEFUL)
    play.settle()
    play.succeed("Fast-1")
    play.fail("Slow-1", is_retryable=False)
    assert play.run.status == "FAILED"
    assert play.outputs == []


@pytest.mark.rule(126)
def test_every_output_is_kept_with_its_step_execution() -> None:
    play = Play(GRACEFUL.replace("{dead_end: true}", "{graceful_complete: slow}"))
    play.settle()
    play.succeed("Slow-1")
    play.succeed("Fast-1")
    assert sorted((o.step_execution_id, o.output) for o in play.run.outputs) == [
        ("Fast-1", "fast"),
        ("Slow-1", "slow"),
    ]


@pytest.mark.parametrize(
    ("key", "outputs"), [("graceful_complete:", []), ("graceful_complete: ${null}", [None])]
)
def test_an_empty_completion_has_no_output_and_a_null_expression_is_one(
    key: str, outputs: list[None]
) -> None:
    play = Play(f"flow: F\nstart: A\nsteps:\n  A:\n    {key}\n")
    play.settle()
    assert play.run.status == "COMPLETED"
    assert play.outputs == outputs


FORCED = """
flow: Forced
channels: {token: string}
start: Split
steps:
  Split:
    publish: {token: t}
    go_to_many: [Holder, Decider]
  Holder:
    wait_for: {until: {channel: token}}
    execute: hold
    dead_end: true
  Decider:
    execute: decide
    decide:
      - {choice: fail, force_fail: "no ${step.execution_id}"}
      - {force_complete: done}
"""


@pytest.mark.rule(124)
def test_force_complete_cancels_all_other_steps_and_gives_their_messages_back() -> None:
    play = Play(FORCED)
    play.settle()
    assert play.unread("token") == []
    play.succeed("Decider-1")
    assert play.run.status == "COMPLETED"
    assert play.outputs == ["done"]
    assert play.active == []
    assert play.unread("token") == ["t"]


@pytest.mark.rule(125)
def test_force_fail_fails_the_run_with_its_reason() -> None:
    play = Play(FORCED)
    play.settle()
    play.succeed("Decider-1", choice="fail")
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert (play.run.error.type, play.run.error.message) == ("force_fail", "no Decider-1")
    assert play.run.error.step_execution_id == "Decider-1"


IF_EMPTY = """
flow: Drain
channels: {work: {type: integer, external: true}}
start: Drain
steps:
  Drain:
    execute: drain
    may: {}
    force_complete_if_channels_empty:
      channels: [work]
      output: drained
      otherwise: {go_to: Take, publish: {log: more}}
    publish: {log: looked}
  Take:
    wait_for: {until: {channel: work, at_least: 1}}
    go_to: Drain
""".replace("    may: {}\n", "").replace(
    "channels: {work:", "channels: {log: {type: string, leftover: true}, work:"
)


@pytest.mark.rule(129)
def test_force_complete_if_channels_empty_completes_when_they_are() -> None:
    play = Play(IF_EMPTY)
    play.succeed("Drain-1")
    assert play.run.status == "COMPLETED"
    assert play.outputs == ["drained"]
    assert play.unread("log") == ["looked"]


@pytest.mark.rule(129)
def test_force_complete_if_channels_empty_goes_on_when_a_message_came_meanwhile() -> None:
    play = Play(IF_EMPTY)
    play.publish("work", 1)
    play.succeed("Drain-1")
    assert play.run.status == "RUNNING"
    assert play.active == ["Drain-2"]
    assert play.unread("log") == ["looked", "more"]
    play.succeed("Drain-2")
    assert play.run.status == "COMPLETED"


def test_channels_are_checked_before_the_publishes_of_the_same_decision() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, leftover: true}}
        start: A
        steps:
          A:
            publish: {c: 1}
            force_complete_if_channels_empty: {channels: [c], otherwise: {dead_end: true}}
        """
    )
    play.settle()
    assert play.run.status == "COMPLETED"
    assert play.unread("c") == [1]


@pytest.mark.rule(119)
@pytest.mark.rule(6)
def test_a_loop_counts_its_executions() -> None:
    play = Play(
        """
        flow: Loop
        start: A
        steps:
          A:
            execute: a
            decide:
              - {choice: again, go_to: A}
              - {graceful_complete: "${step.execution_id}"}
        """
    )
    play.succeed("A-1", choice="again")
    play.succeed("A-2", choice="again")
    play.succeed("A-3")
    assert play.outputs == ["A-3"]


def test_a_movement_without_input_hands_the_own_input_on() -> None:
    play = Play(
        """
        flow: Hand
        input: string
        start: A
        steps:
          A: {go_to: B}
          B: {input: string, go_to: C}
          C: {graceful_complete: done}
        """,
        input="x",
    )
    play.settle()
    assert play.run.status == "COMPLETED"
    assert play.run.counters == {"A": 1, "B": 1, "C": 1}


MISFITS = """
flow: Misfits
input: any
attributes: {m: {type: any, map: true}}
start: Fail
steps:
  Fail:
    input: any
    on_failure: Tell
    DECISION
  Tell: {graceful_complete: "${failure.message}"}
"""


@pytest.mark.parametrize(
    ("decision", "given", "message"),
    [
        ("go_to_many: [{step: Tell, for_each: '${input}'}]", None, "must give a list, not null"),
        ("go_to_many: [{step: Tell, for_each: '${input}'}]", True, "must give a list, not boolean true"),
        ("force_fail: '${input}'", None, "needs a text, not null"),
        ("set: {m: {'${input}': 1}}, dead_end: true", None, "a string or an integer, not null"),
        ("set: {m: '${input}'}, dead_end: true", ["x"], "a mapping of entries, not a list of 1"),
        ("set: {m: '${input}'}, dead_end: true", {"": 1}, "attribute m has an empty key"),
        ("force_fail: '${input}'", {"long": "x" * 1_000_000}, "needs a text, not an object with `long`"),
    ],
)
def test_a_value_of_the_wrong_kind_is_described_as_json_and_in_short(
    decision: str, given: object, message: str
) -> None:
    play = Play(MISFITS.replace("DECISION", f"decide: [{{{decision}}}]"), given)
    play.settle()
    (told,) = play.outputs
    assert message in told
    assert len(told) < 200
