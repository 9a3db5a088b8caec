"""`--select`, `--ignore` and `--fail-on`."""

from __future__ import annotations

from dataclasses import replace

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


@pytest.mark.parametrize(
    ("preset", "codes"),
    [
        ("recommended", ["SCH001", "SCH005", "REF001"]),
        ("strict", ["SCH001", "SCH005", "REF001", "ENG001"]),
        ("syntax", ["SCH001", "SCH005", "REF001"]),
    ],
)
def test_a_preset_selects_where_no_code_is_selected(preset: str, codes: list[str]) -> None:
    assert [found.code for found in select_problems(FOUND, [], [], preset)] == codes
    assert [found.code for found in select_problems(FOUND, ["ENG"], [], preset)] == ["ENG001"]


def test_a_severity_is_replaced_before_the_preset_looks_at_it() -> None:
    severities = {"SCH": "info", "SCH005": "warning", "not-executable-yet": "error"}
    found = select_problems(FOUND, [], [], "recommended", severities)
    assert [(each.code, each.severity) for each in found] == [
        ("SCH005", "warning"),
        ("REF001", "warning"),
        ("ENG001", "error"),
    ]


@pytest.mark.parametrize(
    ("pattern", "is_ignored"),
    [
        ("flows/old/*", True),
        ("./flows/old/*", True),
        ("flows/*", True),
        ("**/x.flow.yaml", True),
        ("x.flow.yaml", True),
        ("x.*", True),
        ("old/*", False),
        ("flows/new/*", False),
        ("flows/old", False),
    ],
)
def test_codes_are_ignored_in_files_by_glob(pattern: str, is_ignored: bool) -> None:
    found = [replace(each, path="flows/old/x.flow.yaml") for each in FOUND]
    left = select_problems(found, [], [], "strict", {}, {pattern: ["SCH"]})
    assert [each.code for each in left] == (["REF001", "ENG001"] if is_ignored else [p.code for p in FOUND])
