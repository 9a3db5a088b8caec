"""Expressions that are too long or too deep to be run: known before anything runs."""

from __future__ import annotations

import pytest

from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem
from tests.support.play import Play


def flow(expression: str, lets: tuple[str, ...] = ()) -> str:
    written = "".join(f'      v{n}: "${{{let}}}"\n' for n, let in enumerate(lets))
    declared = f"    let:\n{written}" if lets else ""
    return f"flow: F\nstart: A\nsteps:\n  A:\n{declared}    graceful_complete: >-\n      ${{{expression}}}\n"


def problems_of(expression: str, lets: tuple[str, ...] = ()) -> list[Problem]:
    return parse(flow(expression, lets), "x.flow.yaml")[1]


def chain(count: int, step: str) -> tuple[str, ...]:
    return ("1", *(step.replace("V", f"v{n}") for n in range(count - 1)))


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 40 + "1" + ")" * 40,
        "[" * 40 + "]" * 40,
        " + ".join(["1"] * 40),
        "step.name == 'x' ? 1 : " * 40 + "2",
    ],
)
def test_what_is_too_deep_for_the_reader_says_split_it(expression: str) -> None:
    (problem,) = problems_of(expression)
    assert "nested too deeply" in problem.message
    assert "`let`" in problem.help


def test_what_can_be_read_and_is_too_deep_to_be_run_is_refused() -> None:
    nested = "".join(f"[1].map(x{n}, " for n in range(25)) + "1" + ")" * 25
    (problem,) = problems_of(nested)
    assert "nested too deeply" in problem.message


@pytest.mark.parametrize("count", [10, 30, 45, 60, 100, 400])
def test_a_row_of_lets_is_run_or_refused(count: int) -> None:
    lets = chain(count, "V + 1")
    problems = problems_of(f"v{count - 1}", lets)
    if count <= 30:
        assert problems == []
    if problems:
        assert {problem.code for problem in problems} == {"EXP001"}
        return
    play = Play(flow(f"v{count - 1}", lets))
    play.settle()
    assert play.outputs == [count]


def test_lets_that_double_each_other_are_refused_before_they_fill_the_memory() -> None:
    problems = problems_of("v59", chain(60, "V + V"))
    assert "parts, more than" in problems[0].message
    assert problems_of("v9", chain(10, "V + V")) == []


def test_a_long_row_of_alternatives_and_a_long_list_are_fine() -> None:
    assert problems_of(" || ".join(["step.name == 'x'"] * 300)) == []
    assert problems_of("[" + ", ".join(["1"] * 5_000) + "]") == []
