"""Waits in a run: conditions of every form, timers, results (rules 58-91)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.play import Play


def waiting(condition: str, extra: str = "") -> Play:
    play = Play(
        f"""
flow: Wait
channels:
  c: {{type: integer, external: true}}
  d: {{type: integer, external: true}}
start: A
steps:
  A:
    wait_for: {{{condition}}}
    execute: a
    graceful_complete: "${{wait}}"
{extra}
"""
    )
    play.settle()
    return play


def results(play: Play) -> Any:
    play.succeed("A-1")
    return play.outputs[0]


@pytest.mark.rule(63)
@pytest.mark.parametrize("extra", ["", ", publish: {d: 1}", ", local: {a: 1}"])
def test_all_of_no_conditions_holds_at_once_and_its_effects_are_committed(extra: str) -> None:
    play = waiting(f"all_of: []{extra}")
    assert play.phase("A-1") == "execute"
    assert play.unread("d") == ([1] if "publish" in extra else [])
    assert results(play) == {}


@pytest.mark.rule(70)
@pytest.mark.rule(73)
@pytest.mark.rule(69)
@pytest.mark.parametrize(
    ("form", "published", "taken"),
    [
        ("", [1, 2], [1]),
        (", for: 1", [1, 2], [1]),
        (", for: 3", [0, 1, 2, 3, 4], [0, 1, 2]),
        (", at_least: 1", [0, 1, 2, 3], [0, 1, 2, 3]),
        (", at_least: 2, at_most: 3", [0, 1, 2, 3, 4], [0, 1, 2]),
        (', for: "${1 + 1}"', [5, 6, 7], [5, 6]),
    ],
)
def test_a_channel_condition_takes_what_its_form_says_oldest_first(
    form: str, published: list[int], taken: list[int]
) -> None:
    play = waiting(f"until: {{channel: c{form}}}")
    assert play.phase("A-1") == "waiting"
    play.publish("c", *published)
    assert play.unread("c") == published[len(taken) :]
    assert results(play)["c"]["messages"] == taken


@pytest.mark.rule(69)
def test_for_n_waits_until_n_are_queued_and_takes_none_before() -> None:
    play = waiting("until: {channel: c, for: 3}")
    play.publish("c", 1, 2)
    assert play.phase("A-1") == "waiting"
    assert play.unread("c") == [1, 2]
    play.publish("c", 3)
    assert play.phase("A-1") == "execute"


@pytest.mark.rule(79)
@pytest.mark.rule(72)
@pytest.mark.rule(71)
@pytest.mark.parametrize("form", ["at_most: 3", "at_least: 0", "at_least: 0, at_most: 2", "for: 0"])
def test_a_condition_without_minimum_never_blocks(form: str) -> None:
    play = waiting(f"until: {{channel: c, {form}}}")
    assert play.phase("A-1") == "execute"
    assert results(play)["c"] == {"satisfied": True, "messages": [], "message": None}


@pytest.mark.rule(73)
def test_at_most_is_a_limit_on_what_is_taken() -> None:
    text = """
        flow: F
        channels: {c: {type: integer, external: true}}
        start: A
        steps:
          A: {execute: a, go_to: B}
          B:
            wait_for: {until: {channel: c, at_most: 2}}
            graceful_complete: "${wait.c.messages}"
        """
    play = Play(text)
    play.publish("c", 1, 2, 3)
    play.succeed("A-1")
    assert play.outputs == [[1, 2]]
    assert play.unread("c") == [3]


@pytest.mark.rule(77)
def test_messages_published_before_the_wait_count() -> None:
    play = Play(
        """
        flow: F
        channels: {c: {type: integer, external: true}}
        start: A
        steps:
          A: {execute: a, go_to: B}
          B:
            wait_for: {until: {channel: c, for: 2}}
            graceful_complete: "${wait.c.messages}"
        """
    )
    play.publish("c", 1, 2)
    play.succeed("A-1")
    assert play.outputs == [[1, 2]]


@pytest.mark.rule(74)
@pytest.mark.parametrize("form", ['for: "${0 - 1}"', 'at_least: 3, at_most: "${1 + 1}"'])
def test_bad_bounds_fail_the_wait_without_retry(form: str) -> None:
    play = waiting(f"until: {{channel: c, {form}}}")
    assert play.run.status == "FAILED"
    assert play.run.error is not None
    assert play.run.error.type == "step_failed"


@pytest.mark.rule(79)
@pytest.mark.rule(66)
def test_any_of_prefers_a_fired_timer_to_a_message() -> None:
    play = waiting("any_of: [{channel: c}, {timer: 5s}]")
    play.advance(5)
    play.publish("c", 1)
    assert results(play) == {
        "c": {"satisfied": False, "messages": [], "message": None},
        "timer": {"satisfied": True, "fired": True},
    }
    assert play.unread("c") == [1]


@pytest.mark.rule(67)
def test_a_losing_channel_keeps_its_messages() -> None:
    play = waiting("any_of: [{channel: c, for: 2}, {channel: d}]")
    play.publish("c", 1)
    play.publish("d", 7)
    assert results(play)["d"]["message"] == 7
    assert play.unread("c") == [1]


@pytest.mark.rule(84)
def test_a_timer_counts_from_the_acceptance_of_the_wait() -> None:
    play = waiting("until: {timer: 1m}")
    play.advance(59)
    play.settle()
    assert play.phase("A-1") == "waiting"
    play.advance(1)
    play.settle()
    assert results(play) == {"timer": {"satisfied": True, "fired": True}}


@pytest.mark.rule(85)
def test_each_entry_into_a_step_starts_its_timer_anew() -> None:
    play = Play(
        """
        flow: F
        start: Tick
        steps:
          Tick:
            wait_for: {until: {timer: 10s}}
            decide:
              - {when: step.execution_id == 'Tick-3', graceful_complete: done}
              - {go_to: Tick}
        """
    )
    play.settle()
    for _ in range(3):
        assert play.run.status == "RUNNING"
        play.advance(10)
        play.settle()
    assert play.run.status == "COMPLETED"


def test_a_timer_at_in_the_past_fires_at_once() -> None:
    play = waiting("until: {timer_at: '2029-12-31T23:00:00Z'}")
    assert play.phase("A-1") == "execute"


@pytest.mark.parametrize("timer", ["timer: \"${'-1s'}\"", 'timer: "${0 - 5}"', "timer_at: \"${'soon'}\""])
def test_a_computed_duration_that_is_none_fails_the_wait(timer: str) -> None:
    play = waiting(f"until: {{{timer}}}")
    assert play.run.status == "FAILED"


@pytest.mark.rule(68)
@pytest.mark.rule(83)
def test_all_of_takes_nothing_until_everything_holds() -> None:
    play = waiting("all_of: [{channel: c}, {channel: d}]")
    play.publish("c", 1)
    assert play.unread("c") == [1]
    play.publish("d", 2)
    assert (play.unread("c"), play.unread("d")) == ([], [])
    result = results(play)
    assert (result["c"]["message"], result["d"]["message"]) == (1, 2)


@pytest.mark.rule(76)
def test_two_conditions_on_one_channel_share_in_declared_order() -> None:
    play = waiting("all_of: [{channel: c, for: 2, id: first}, {channel: c, for: 2, id: second}]")
    play.publish("c", 0, 1, 2, 3)
    result = results(play)
    assert (result["first"]["messages"], result["second"]["messages"]) == ([0, 1], [2, 3])


@pytest.mark.rule(59)
@pytest.mark.rule(62)
@pytest.mark.rule(80)
def test_any_combination_of_holds_with_its_first_complete_group() -> None:
    play = waiting(
        "conditions: {t: {timer: 10s}, one: {channel: c}, two: {channel: d}},"
        " any_combination_of: [[t, one], [one, two]]"
    )
    play.publish("c", 1)
    assert play.phase("A-1") == "waiting"
    play.publish("d", 2)
    result = results(play)
    assert (result["t"]["satisfied"], result["one"]["satisfied"], result["two"]["satisfied"]) == (
        False,
        True,
        True,
    )


def test_a_condition_left_out_by_when_has_an_unsatisfied_result() -> None:
    play = waiting("any_of: [{channel: c, when: 'false'}, {channel: d}]")
    play.publish("c", 1)
    assert play.phase("A-1") == "waiting"
    play.publish("d", 2)
    assert results(play)["c"] == {"satisfied": False, "messages": [], "message": None}


def test_a_wait_with_every_condition_left_out_holds_at_once() -> None:
    play = waiting("until: {channel: c, when: 'false'}")
    assert play.phase("A-1") == "execute"


MAPPED = """
flow: Mapped
channels: {answer: {type: string, map: true, external: true}}
start: A
steps:
  A:
    execute: a
    result: {name: people, type: list of string}
    go_to: {step: B, input: "${people}"}
  B:
    input: list of string
    wait_for:
      COMBINATOR:
        - {channel: answer, key: "${who}", for_each: "${input}", as: who, when: who != 'nobody'}
    graceful_complete: "${wait.answer}"
"""


def test_for_each_in_all_of_waits_for_every_element() -> None:
    play = Play(MAPPED.replace("COMBINATOR", "all_of"))
    play.succeed("A-1", ["ann", "nobody", "bob"])
    play.publish("answer", "yes", key="ann")
    assert play.run.status == "RUNNING"
    play.publish("answer", "no", key="bob")
    assert [(r["item"], r["key"], r["satisfied"], r["message"]) for r in play.outputs[0]] == [
        ("ann", "ann", True, "yes"),
        ("nobody", "nobody", False, None),
        ("bob", "bob", True, "no"),
    ]


def test_for_each_in_any_of_waits_for_one_element() -> None:
    play = Play(MAPPED.replace("COMBINATOR", "any_of"))
    play.succeed("A-1", ["ann", "bob"])
    play.publish("answer", "no", key="bob")
    assert [r["satisfied"] for r in play.outputs[0]] == [False, True]


@pytest.mark.rule(78)
def test_the_oldest_wait_gets_the_next_message() -> None:
    play = Play(
        """
        flow: Turns
        channels: {token: {type: integer, external: true}}
        start: Split
        steps:
          Split:
            go_to_many:
              - {for_each: "${range(3)}", as: n, step: Turn, input: "${n}"}
          Turn:
            input: integer
            wait_for: {until: {channel: token}}
            execute: turn
            dead_end: true
        """
    )
    play.settle()
    play.publish("token", 1)
    assert [play.phase(f"Turn-{n}") for n in (1, 2, 3)] == ["execute", "waiting", "waiting"]
    play.publish("token", 2, 3)
    assert [play.phase(f"Turn-{n}") for n in (1, 2, 3)] == ["execute"] * 3


def test_a_wait_without_conditions_commits_its_effects_and_holds_at_once() -> None:
    play = Play(
        """
        flow: F
        attributes: {status: string}
        channels: {log: {type: string, leftover: true}}
        start: A
        steps:
          A:
            wait_for: {set: {status: waiting}, publish: {log: hello}, local: {note: "n-${step.attempt}"}}
            execute: a
            graceful_complete: ${local.note}
        """
    )
    play.settle()
    assert play.attributes == {"status": "waiting"}
    assert play.unread("log") == ["hello"]
    play.succeed("A-1")
    assert play.outputs == ["n-1"]


HANDLED = """
flow: Handled
channels: {a: {type: string, external: true}, b: {type: string, external: true}}
start: A
steps:
  A:
    wait_for:
      handler: choose_wait
      retry: {maximum_attempts: 2}
      conditions: {x: {channel: a}, y: {channel: b}, t: {timer: 1h}}
    execute: a
    graceful_complete: "${[wait.x.message, wait.y.message]}"
"""


def test_a_handler_builds_the_wait_out_of_declared_conditions() -> None:
    play = Play(HANDLED)
    play.wait("A-1", "any_of", ("y",), ("t",))
    play.publish("a", "ignored")
    assert play.phase("A-1") == "waiting"
    play.publish("b", "seen")
    play.succeed("A-1")
    assert play.outputs == [[None, "seen"]]


@pytest.mark.rule(46)
def test_a_handler_may_skip_the_wait() -> None:
    play = Play(HANDLED)
    play.wait("A-1", "none")
    assert play.phase("A-1") == "execute"


@pytest.mark.rule(62)
@pytest.mark.parametrize("groups", [[()], [("x", "x")], [("z",)], []])
def test_a_malformed_wait_of_a_handler_fails_the_attempt(groups: list[tuple[str, ...]]) -> None:
    play = Play(HANDLED)
    play.wait("A-1", "any_combination_of", *groups)
    execution = play.run.executions["A-1"]
    assert (execution.attempt, str(execution.phase)) == (2, "wait_for")
    assert execution.last_failure is not None
    assert execution.last_failure.type == "InvalidResult"


@pytest.mark.rule(47)
def test_locals_of_a_wait_handler_are_read_in_execute() -> None:
    play = Play(HANDLED.replace('"${[wait.x.message, wait.y.message]}"', '"${local.note}"'))
    play.wait("A-1", "none", locals={"note": "kept"})
    play.succeed("A-1")
    assert play.outputs == ["kept"]
