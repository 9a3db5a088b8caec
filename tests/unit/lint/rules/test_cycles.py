"""GRA006 and GRA007: loops that never rest, failure routes in a circle."""

from __future__ import annotations

import pytest

from tests.support.linted import found, places

HEAD = """\
flow: F
timeout: 1h
attributes: {n: {type: integer, initial: 0}, other: {type: integer, initial: 0}}
start: A
channels: {c: {type: string, external: true}}
rpcs: {touch: {set: {other: 1}}}
steps:
"""


def severities(steps: str) -> list[str]:
    return [problem.severity for problem in found(HEAD + steps, "GRA006")]


@pytest.mark.parametrize(
    "steps",
    [
        "  A: {go_to: A}\n",
        "  A: {go_to: B}\n  B: {go_to: A}\n",
        "  A: {go_to_many: [A, B]}\n  B: {dead_end: true}\n",
        "  A: {decide: [{when: attributes.n > 3, go_to: A}, {go_to: B}]}\n  B: {go_to: A}\n",
        "  A: {wait_for: {set: {n: 1}}, go_to: A}\n",
        "  A: {wait_for: {until: {channel: c, at_most: 3}}, go_to: A}\n",
        "  A: {wait_for: {until: {channel: c, at_least: 0}}, go_to: A}\n",
        "  A: {wait_for: {until: {timer: 0s}}, go_to: A}\n",
        "  A: {wait_for: {any_of: [{timer: 1h}, {channel: c, at_most: 1}]}, go_to: A}\n",
    ],
)
def test_a_loop_without_wait_and_way_out_is_an_error(steps: str) -> None:
    assert severities(steps) == ["error"]


@pytest.mark.parametrize(
    "steps",
    [
        "  A: {execute: a, go_to: A}\n",
        "  A: {decide: [{when: attributes.other > 0, graceful_complete: }, {go_to: A}]}\n",
        "  A: {input: integer, decide: [{when: input > 0, graceful_complete: }, {go_to: A}]}\n",
    ],
)
def test_a_loop_of_calls_without_way_out_and_one_that_waits_by_spinning_are_warnings(steps: str) -> None:
    assert severities(steps) == ["warning"]


@pytest.mark.parametrize(
    "steps",
    [
        "  A: {wait_for: {until: {timer: 1s}}, go_to: A}\n",
        "  A: {wait_for: {all_of: [{timer: 1s}, {channel: c, at_most: 1}]}, go_to: A}\n",
        "  A: {wait_for: {until: {channel: c, at_least: 1, at_most: 3}}, go_to: A}\n",
        "  A: {wait_for: {until: {channel: c, at_least: 0}}, decide: "
        "[{when: 'size(wait.c.messages) > 0', go_to: A}, {graceful_complete: }]}\n",
        "  A: {go_to: B}\n  B: {wait_for: {until: {timer: 1s}}, go_to: A}\n",
        "  A: {execute: a, decide: [{when: result == 1, graceful_complete: }, {go_to: A}]}\n",
        "  A: {execute: a, on_failure: B, go_to: A}\n  B: {graceful_complete: }\n",
        '  A:\n    set: {n: "${attributes.n + 1}"}\n'
        "    decide: [{when: attributes.n > 3, dead_end: true}, {go_to: A}]\n",
        "  A:\n    input: integer\n    decide: [{when: input > 3, dead_end: true}, "
        '{go_to: {step: A, input: "${input + 1}"}}]\n',
        "  A: {go_to: B}\n  B: {graceful_complete: }\n",
    ],
)
def test_a_loop_that_waits_counts_or_asks_a_handler_is_fine(steps: str) -> None:
    assert severities(steps) == []


def test_the_cycle_is_named_and_shown() -> None:
    (problem,) = found(HEAD + "  A: {go_to: B}\n  B: {go_to: C}\n  C: {go_to: A}\n", "GRA006")
    assert problem.message == "the cycle A → B → C → A has neither wait nor timer, and no way out"
    assert [span.span.line for span in problem.spans] == [9, 10]


def failing(a: str, b: str, c: str = "") -> str:
    rest = "graceful_complete: "
    steps = {"A": a, "B": b, "C": c}
    return HEAD + "".join(f"  {name}: {{execute: work, {route}{rest}}}\n" for name, route in steps.items())


def test_failure_routes_in_a_circle_are_found_once() -> None:
    text = failing("on_failure: B, ", "on_failure: C, ", "on_failure: A, ")
    (problem,) = found(text, "GRA007")
    assert problem.message == "failure routes lead in a circle: A → B → C → A"
    assert places(text, "GRA007") == ["8:34"]


def test_routes_that_movements_and_routes_give_their_targets_count() -> None:
    text = failing("on_failure: {step: B, options: {on_failure: A}}, ", "")
    assert len(found(text, "GRA007")) == 1


@pytest.mark.parametrize(
    "text",
    [
        failing("on_failure: B, ", "on_failure: C, "),
        failing("on_failure: A, ", ""),
        HEAD + "  A: {execute: work, on_failure: B, graceful_complete: }\n  B: {execute: work, go_to: A}\n",
    ],
)
def test_a_chain_a_route_to_itself_and_a_retry_by_movement_are_no_circle(text: str) -> None:
    assert found(text, "GRA007") == []
