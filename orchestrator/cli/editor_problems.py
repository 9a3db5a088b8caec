"""Which problems an editor shows: those that `orchestrator lint` would report in the flow's project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.cli.lint_settings import LintSettings, resolve_lint_settings
from orchestrator.cli.settings import read_pyproject
from orchestrator.definition.problem import Problem
from orchestrator.definition.source import Source
from orchestrator.lint.baseline import read_baseline
from orchestrator.lint.selection import select_problems


def choose_problems(problems: Sequence[Problem], source: Source, roots: Sequence[Path]) -> list[Problem]:
    """By the pyproject.toml of the project; raises UsageError where that is wrong."""
    project = find_project(Path(source.path), roots)
    settings = resolve_lint_settings(directory=project)
    shown = shown_from(Path(source.path), project)
    moved = [replace(problem, path=shown) for problem in problems]
    wanted = _wanted(moved, settings, project, Source(shown, source.text, source.root))
    return [replace(problem, path=source.path) for problem in wanted]


def find_project(file: Path, roots: Sequence[Path]) -> Path:
    """The nearest directory above the file that configures us, else the editor's folder around it."""
    for directory in file.parents:
        if (directory / "pyproject.toml").is_file() and read_pyproject(directory):
            return directory
    around = [root for root in roots if file.is_relative_to(root)]
    return around[0] if around else file.parent


def shown_from(file: Path, project: Path) -> str:
    """As `orchestrator lint` names it there."""
    return file.relative_to(project).as_posix() if file.is_relative_to(project) else str(file)


def _wanted(problems: list[Problem], settings: LintSettings, project: Path, source: Source) -> list[Problem]:
    if settings.baseline is not None:
        accepted = read_baseline(project / settings.baseline)
        problems = accepted.compare(problems, [source.path], sources={source.path: source}).new
    return select_problems(problems, *settings.selection)
