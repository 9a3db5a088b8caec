"""Linting files, directories and standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from orchestrator.definition.executable import FINDERS
from orchestrator.errors import UsageError
from orchestrator.lint.runner import lint_paths, lint_text


def test_problems_of_all_files_come_in_file_order_with_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "b.flow.yaml").write_text("flow: B\nstart: X\ny: 1\n")
    (tmp_path / "flows" / "a.flow.yaml").write_text("flow: A\nx: 1\n")
    problems = lint_paths([tmp_path / "flows"])
    assert [problem.concise().split(" ")[0] for problem in problems] == [
        "flows/a.flow.yaml:2:1:",
        "flows/b.flow.yaml:2:8:",
        "flows/b.flow.yaml:3:1:",
    ]
    assert [problem.flow for problem in problems] == ["A", "B", "B"]


def test_what_cannot_be_executed_yet_is_shown_as_info(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FINDERS, "a start", lambda flow: iter([("start",)]))
    (tmp_path / "a.flow.yaml").write_text("flow: A\nstart: B\nsteps: {B: {graceful_complete: done}}\n")
    (problem,) = lint_paths([tmp_path])
    assert (problem.code, problem.severity, problem.span.line) == ("ENG001", "info", 2)


def test_two_files_with_one_flow_type_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.flow.yaml").write_text("flow: A\n")
    (tmp_path / "b.flow.yaml").write_text("flow: A\n")
    assert [problem.code for problem in lint_paths([tmp_path])] == ["NAM008"]


def test_a_directory_without_flows_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        lint_paths([tmp_path])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("flow: A\nx: 1\n"))
    (problem,) = lint_paths(["-"])
    assert problem.path == "<stdin>"
    assert [found.code for found in lint_text("flow: A\nx: 1\n")] == ["SCH001"]
