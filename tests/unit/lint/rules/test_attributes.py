"""DAT: values needed before they are set, and locks let go between two steps."""

from __future__ import annotations

import pytest

from tests.support.linted import found

HEAD = """
flow: F
handlers: h
input: integer
attributes: {n: integer, s: string, m: {type: integer, initial: 0}, l: list of integer}
start: A
steps:
"""
UNSET = "  A: {decide: [{when: input > 0, set: {n: 1, s: a, l: [1]}, go_to: B}, {go_to: B}]}\n"
SET = "  A: {set: {n: 1, s: a, l: [1]}, go_to: B}\n"


def needing(expression: str) -> str:
    return f'  B: {{graceful_complete: "{expression}"}}\n'


@pytest.mark.parametrize(
    "expression",
    [
        "${attributes.n + 1}",
        "${-attributes.n}",
        "${attributes.n < 3}",
        "${size(attributes.l)}",
        "${attributes.l[0]}",
        "${attributes.l.exists(each, each > 2)}",
        "${attributes.s.startsWith('a')}",
        "it is ${attributes.n}",
    ],
)
def test_a_value_that_is_needed_and_not_set_on_every_way(expression: str) -> None:
    (problem,) = found(HEAD + UNSET + needing(expression), "DAT004")
    assert problem.severity == "warning"
    assert found(HEAD + SET + needing(expression), "DAT004") == []


@pytest.mark.parametrize(
    "expression",
    [
        "${attributes.n}",
        "${attributes.n == null}",
        "${coalesce(attributes.n, 0) + 1}",
        "${attributes.n == null ? 0 : attributes.n + 1}",
        "${attributes.m + 1}",
        "${has(attributes.n)}",
    ],
)
def test_an_expression_that_can_do_with_null(expression: str) -> None:
    assert found(HEAD + UNSET + needing(expression), "DAT004") == []


def test_a_guard_before_the_decision_looks_first() -> None:
    last = """\
  B:
    decide:
      - {when: attributes.n == null, dead_end: true}
      - graceful_complete: ${attributes.n + 1}
"""
    assert found(HEAD + UNSET + last, "DAT004") == []


def test_a_step_that_failed_has_written_nothing() -> None:
    steps = "  A: {execute: a, on_failure: B, set: {n: 1}, graceful_complete: }\n" + needing(
        "${attributes.n + 1}"
    )
    assert len(found(HEAD + steps, "DAT004")) == 1


def test_what_a_handler_sets_is_there_for_its_own_decision() -> None:
    steps = "  A: {execute: {handler: a, may: {set: [n]}}, graceful_complete: '${attributes.n + 1}'}\n"
    assert found(HEAD + steps, "DAT004") == []


def test_what_a_wait_sets_is_there_afterwards() -> None:
    steps = "  A: {wait_for: {set: {n: 1}}, go_to: B}\n" + needing("${attributes.n + 1}")
    assert found(HEAD + steps, "DAT004") == []


@pytest.mark.parametrize(
    "rest",
    [
        "rpcs: {put: {set: {n: 2}}}\n",
        "timeout: 1d\non_timeout: {set: {n: 2}, graceful_complete: }\n",
        "attributes: {n: {type: integer, initial: 1}}\n",
    ],
    ids=["an RPC sets it", "the timeout sets it", "initial"],
)
def test_a_value_that_may_come_from_elsewhere(rest: str) -> None:
    head = HEAD.replace("attributes: {n: integer, s", "attributes: {s") if rest.startswith("attr") else HEAD
    text = head + UNSET + needing("${attributes.n + 1}") + rest
    if rest.startswith("attr"):
        text = (
            HEAD.replace("n: integer,", "n: {type: integer, initial: 1},")
            + UNSET
            + needing("${attributes.n + 1}")
        )
    assert found(text, "DAT004") == []


def test_a_value_that_a_branch_beside_sets() -> None:
    steps = "  A: {go_to_many: [B, C]}\n  C: {set: {n: 1}, dead_end: true}\n"
    assert found(HEAD + steps + needing("${attributes.n + 1}"), "DAT004") == []


def test_a_value_that_nobody_sets_comes_from_the_client() -> None:
    assert found(HEAD + "  A: {go_to: B}\n" + needing("${attributes.n + 1}"), "DAT004") == []


LOCKS = """
flow: F
handlers: h
attributes: {{n: {{type: integer, initial: 0}}, m: {{type: integer, initial: 0, map: true}}}}
start: Begin
steps:
  Begin: {{{begin}}}
  Check: {{execute: {{handler: check, locks: [{check}]}}, go_to: Book}}
  Book: {{execute: {{handler: book, locks: [{book}]}}, dead_end: true}}
"""


def locks(begin: str = "go_to_many: [Check, Check]", check: str = "n", book: str = "n") -> str:
    return LOCKS.format(begin=begin, check=check, book=book).replace(", initial: 0, map", ", map")


def test_a_lock_let_go_between_two_steps() -> None:
    assert [problem.severity for problem in found(locks(), "DAT006")] == ["info"]


@pytest.mark.parametrize(
    "text",
    [locks(begin="go_to: Check"), locks(book="{m: a}"), locks(check="{m: a}", book="{m: b}")],
    ids=["nobody else", "another attribute", "another entry"],
)
def test_locks_between_which_nobody_comes(text: str) -> None:
    assert found(text, "DAT006") == []
