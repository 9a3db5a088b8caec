"""Which problems an editor shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.editor_problems import choose_problems, find_project
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lint.runner import lint_text

TEXT = "flow: F\nsteps:\n  A: {go_to: B, colour: red}\n"


def codes(file: Path, *roots: Path) -> list[str]:
    source = Source(str(file), TEXT)
    chosen = choose_problems(lint_text(TEXT, str(file)), source, roots)
    assert {problem.path for problem in chosen} == {str(file)}
    return sorted({problem.code for problem in chosen})


def configure(directory: Path, text: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "pyproject.toml").write_text(text)


def test_the_nearest_project_that_configures_us_counts(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.orchestrator.lint]\nignore = ["REF"]\n')
    configure(tmp_path / "inner", "[project]\nname = 'other'\n")
    assert codes(tmp_path / "inner" / "flows" / "f.flow.yaml") == ["SCH001"]
    configure(tmp_path / "inner", '[tool.orchestrator.lint]\nignore = ["SCH"]\n')
    assert codes(tmp_path / "inner" / "flows" / "f.flow.yaml") == ["REF001"]


def test_globs_are_those_of_the_project(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.orchestrator.lint.per-file-ignores]\n"flows/old/*" = ["REF", "SCH001"]\n')
    assert codes(tmp_path / "flows" / "f.flow.yaml") == ["REF001", "SCH001"]
    source = Source(str(tmp_path / "flows" / "old" / "f.flow.yaml"), TEXT)
    assert choose_problems(lint_text(TEXT, source.path), source, ()) == []


def test_without_a_project_the_folder_of_the_editor_is_it(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "f.flow.yaml"
    assert find_project(file, [tmp_path / "other", tmp_path]) == tmp_path
    assert find_project(file, []) == tmp_path / "deep"


def test_a_wrong_configuration_is_a_usage_error(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.orchestrator.lint]\npreset = "soft"\n')
    with pytest.raises(UsageError, match="preset"):
        codes(tmp_path / "f.flow.yaml")
