"""Files with thousands of problems: what is done about each does not grow with their number."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem

_STEPS = 2_000


def flow_of_steps(body: str) -> str:
    """`body` of each step; `{n}` is its number."""
    steps = "".join(f"  S{n}: {body.replace('{n}', str(n))}\n" for n in range(_STEPS))
    return f"flow: F\nstart: S0\nsteps:\n{steps}"


@pytest.mark.parametrize("body", ["{go_to: X{n}}", "{gto: S{n}}", "{dead_end: no{n}}", "{go_to:\tS0}"])
def test_every_problem_of_a_large_file_is_reported_once(body: str) -> None:
    _, problems = parse(flow_of_steps(body), "x.flow.yaml")
    lines = Counter(problem.span.line for problem in problems)
    assert set(range(4, 4 + _STEPS)) <= set(lines)
    assert set(lines.values()) == {1}


def test_problems_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def count_comparison(self: Problem, other: object) -> bool:
        nonlocal count
        count += 1
        return self is other

    monkeypatch.setattr(Problem, "__eq__", count_comparison)
    _, problems = parse(flow_of_steps("{dead_end: no{n}}"), "x.flow.yaml")
    assert len(problems) == _STEPS
    assert count <= _STEPS


def test_names_are_proposed_for_the_first_of_many_unknown_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def count_looks(word: str, known: Any) -> str:
        nonlocal looks
        looks += len(known)
        return did_you_mean(word, known)

    monkeypatch.setattr("orchestrator.definition.reading.did_you_mean", count_looks)
    _, problems = parse(flow_of_steps("{go_to: SS{n}}"), "x.flow.yaml")
    assert problems[0].help.startswith("did you mean")
    assert len(problems) == _STEPS
    assert looks <= 50_000
