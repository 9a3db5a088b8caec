"""`--select`, `--ignore` and `--fail-on`."""

from __future__ import annotations

import pytest

from orchestrator.definition.problem import Problem, Span
from orchestrator.lint.selection import is_failing, select_problems


def problem(code: str, severity: str = "error") -> Problem:
    return Problem(code, "…", "x.flow.yaml", Span(1, 1, 1, 2), severity=severity)


FOUND = [problem("SCH001"), problem("SCH005"), problem("REF001", "warning"), problem("ENG001", "info")]


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ([], [], ["SCH001", "SCH005", "REF001", "ENG001"]),
        (["SCH"], [], ["SCH001", "SCH005"]),
        (["sch001", "unknown-step"], [], ["SCH001", "REF001"]),
        ([], ["SCH", "ENG001"], ["REF001"]),
        (["SCH"], ["SCH005"], ["SCH001"]),
    ],
)
def test_problems_are_selected_by_code_family_or_name(
    select: list[str], ignore: list[str], codes: list[str]
) -> None:
    assert [found.code for found in select_problems(FOUND, select, ignore)] == codes


@pytest.mark.parametrize(
    ("found", "severity", "fails"),
    [
        ([], "info", False),
        ([problem("A", "info")], "warning", False),
        ([problem("A", "info")], "info", True),
        ([problem("A", "warning")], "error", False),
        ([problem("A", "error")], "error", True),
    ],
)
def test_a_problem_fails_from_the_given_severity_on(found: list[Problem], severity: str, fails: bool) -> None:
    assert is_failing(found, severity) is fails
