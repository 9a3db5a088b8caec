"""Joins: rounds, lines, what counts (language.md 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.play import Play

FORK = """
flow: Fork
joins: {done: string}
start: Split
steps:
  Split:
    execute: split
    result: {name: items, type: list of string}
    go_to_many:
      - {for_each: "${items}", as: item, step: Work, input: "${item}"}
      - {step: Collect}
    join: done
  Work:
    input: string
    execute: work
    decide:
      - {choice: leave, dead_end: true}
      - choice: twice
        go_to_many: [{step: More, input: "${input + '1'}"}, {step: More, input: "${input + '2'}"}]
      - {report: {done: "${input}"}, dead_end: true}
  More:
    input: string
    execute: more
    report: {done: "${input}"}
    dead_end: true
  Collect:
    wait_for: {until: {join: done, need: NEED}}
    graceful_complete: "${wait.done}"
"""


def forked(need: str, *items: str) -> Play:
    play = Play(FORK.replace("NEED", need))
    play.succeed("Split-1", list(items))
    return play


@pytest.mark.rule(141)
@pytest.mark.parametrize("need", ["all", "active"])
def test_a_round_without_branches_is_complete_at_once(need: str) -> None:
    play = forked(need)
    assert play.run.status == "COMPLETED"
    assert play.outputs[0]["messages"] == []


@pytest.mark.rule(141)
def test_all_waits_for_the_report_of_every_branch() -> None:
    play = forked("all", "a", "b")
    play.succeed("Work-2")
    assert play.run.status == "RUNNING"
    play.succeed("Work-1")
    assert play.run.status == "COMPLETED"
    assert play.outputs[0]["messages"] == ["b", "a"]
    assert play.outputs[0]["by_branch"] == ["a", "b"]


@pytest.mark.rule(143)
def test_all_never_holds_after_a_miss_and_active_does() -> None:
    for need, status in (("all", "RUNNING"), ("active", "COMPLETED")):
        play = forked(need, "a", "b")
        play.succeed("Work-1", choice="leave")
        play.succeed("Work-2")
        assert play.run.status == status
    assert play.outputs[0]["by_branch"] == [None, "b"]


@pytest.mark.rule(142)
@pytest.mark.parametrize(("need", "taken"), [("first", ["b"]), ("2", ["b", "a"])])
def test_first_and_n_take_the_oldest_reports_and_the_rest_go_on(need: str, taken: list[str]) -> None:
    play = forked(need, "a", "b", "c")
    play.succeed("Work-2")
    if need == "2":
        assert "Collect-1" in play.active
        play.succeed("Work-1")
    assert "Collect-1" not in play.active
    play.succeed("Work-3")
    remaining = "Work-1"
    if remaining in play.active:
        play.succeed(remaining)
    assert play.run.status == "COMPLETED"
    assert play.outputs[0]["messages"] == taken


def test_a_fork_inside_a_branch_makes_two_lines_that_both_count() -> None:
    play = forked("all", "a", "b")
    play.succeed("Work-1", choice="twice")
    play.succeed("Work-2")
    play.succeed("More-1")
    assert play.run.status == "RUNNING"
    play.succeed("More-2")
    assert play.outputs[0]["messages"] == ["b", "a1", "a2"]
    assert play.outputs[0]["by_branch"] == ["a1", "b"]


def test_a_failure_route_hands_the_line_on() -> None:
    text = FORK.replace("NEED", "all").replace(
        "    execute: work\n", "    execute: work\n    on_failure: More\n"
    )
    play = Play(text)
    play.succeed("Split-1", ["a"])
    play.fail("Work-1", is_retryable=False)
    play.succeed("More-1")
    assert play.outputs[0]["messages"] == ["a"]


NESTED = """
flow: Nested
joins: {outer: integer, inner: integer}
start: Split
steps:
  Split:
    go_to_many:
      - {for_each: "${range(2)}", as: n, step: Sub, input: "${n}"}
      - Total
    join: outer
  Sub:
    input: integer
    go_to_many:
      - {for_each: "${range(2)}", as: n, step: Leaf, input: "${input * 10 + n}"}
      - {step: Sum, input: "${input}"}
    join: inner
  Leaf:
    input: integer
    execute: leaf
    report: {inner: "${input}"}
    dead_end: true
  Sum:
    input: integer
    wait_for: {until: {join: inner}}
    report: {outer: "${sum(wait.inner.messages)}"}
    dead_end: true
  Total:
    wait_for: {until: {join: outer}}
    graceful_complete: "${wait.outer.by_branch}"
"""


@pytest.mark.rule(138)
@pytest.mark.rule(140)
def test_nested_rounds_report_to_their_own_round() -> None:
    play = Play(NESTED)
    play.settle()
    for leaf in ("Leaf-4", "Leaf-1", "Leaf-3", "Leaf-2"):
        play.succeed(leaf)
    assert play.outputs == [[1, 21]]
    assert play.run.rounds == {}


@pytest.mark.rule(140)
def test_the_same_join_nested_in_itself_reports_innermost_first() -> None:
    text = NESTED.replace("inner", "outer").replace("{outer: integer, outer: integer}", "{outer: integer}")
    play = Play(text)
    play.settle()
    for n in range(1, 5):
        play.succeed(f"Leaf-{n}")
    assert play.outputs == [[1, 21]]


CANCEL = FORK.replace("NEED", "first").replace(
    '    graceful_complete: "${wait.done}"',
    '    cancel_round: done\n    graceful_complete: "${wait.done.messages}"',
)


@pytest.mark.rule(142)
def test_cancel_round_cancels_what_is_inside_and_not_what_has_reported() -> None:
    play = Play(CANCEL)
    play.succeed("Split-1", ["a", "b", "c"])
    play.succeed("Work-1", choice="twice")
    play.succeed("Work-2")
    assert play.run.status == "COMPLETED"
    assert play.outputs == [["b"]]


@pytest.mark.rule(139)
def test_each_pass_of_a_loop_opens_a_fresh_round() -> None:
    play = Play(
        """
        flow: Loop
        joins: {done: integer}
        start: Split
        steps:
          Split:
            go_to_many: [{step: Work, input: "${1}"}, Collect]
            join: done
          Work:
            input: integer
            execute: work
            report: {done: "${input}"}
            dead_end: true
          Collect:
            wait_for: {until: {join: done}}
            decide:
              - {when: step.execution_id == 'Collect-2', graceful_complete: "${wait.done.messages}"}
              - {go_to: Split}
        """
    )
    play.settle()
    play.succeed("Work-1")
    assert sorted(play.run.rounds) == ["done/Split-1", "done/Split-2"][-len(play.run.rounds) :]
    play.succeed("Work-2")
    assert play.outputs == [[1]]


def facing_none() -> Any:
    return Play(
        """
        flow: F
        joins: {done: integer}
        start: A
        steps:
          A:
            wait_for: {until: {join: done}}
            dead_end: true
          B: {input: integer, report: {done: 1}, dead_end: true}
        """
    )


def test_waiting_on_a_join_without_facing_a_round_fails() -> None:
    play = facing_none()
    play.settle()
    assert play.run.error is not None
    assert "faces no round of join done" in play.run.error.message


def test_ten_thousand_branches_join_in_linear_time() -> None:
    def touched(number: int) -> int:
        play = Play(FORK.replace("NEED", "all"))
        play.succeed("Split-1", [str(n) for n in range(number)])
        play.succeed("Work-1")
        return len(play.history[-1])

    assert touched(2000) - touched(20) < 40
