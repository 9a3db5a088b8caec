"""Checks files and directories of definitions; one list of problems for all of them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.definition.catalogue import read_file, twin_problem
from orchestrator.definition.codes import CODES
from orchestrator.definition.executable import check_executable
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem, Span, sort_key
from orchestrator.lint.crew import each
from orchestrator.lint.facts import Facts
from orchestrator.lint.files import STANDARD_INPUT as STANDARD_INPUT
from orchestrator.lint.files import STDIN as STDIN
from orchestrator.lint.files import listed_files as listed_files
from orchestrator.lint.files import shown_path as shown_path
from orchestrator.lint.rules import all_rules
from orchestrator.lint.suppression import not_looked_for, suppress

if TYPE_CHECKING:
    from orchestrator.binding.survey import Survey

Tell: TypeAlias = Callable[[str], None]
"""Called with each file's path when it has been looked at."""


def lint_paths(paths: Iterable[str | Path], *, has_handlers: bool = False) -> list[Problem]:
    """All problems of files and of every `*.flow.yaml` under directories, in file order.

    `-` is standard input. With `has_handlers` the handlers are imported and checked too.
    A directory without flows is a usage error.
    """
    return lint_files(listed_files(paths), has_handlers=has_handlers)


def lint_files(
    files: Sequence[Path], *, has_handlers: bool = False, tell: Tell | None = None
) -> list[Problem]:
    """The problems of these files. Many are shared among processes, unless handlers are to be imported."""
    look = partial(_look, survey=start_survey(files) if has_handlers else None)
    problems: list[Problem] = []
    declared: dict[str, Declared] = {}
    for looked in each(look, files, worker_count=1 if has_handlers else None):
        problems += looked.problems
        if looked.declared is not None:
            problems += _twin_problems(looked.declared, declared)
        if tell is not None:
            tell(looked.path)
    return sorted(problems, key=sort_key)


@dataclass(frozen=True)
class Declared:
    """The flow type that a file declares, and where."""

    name: str
    path: str
    span: Span
    text: str
    """Of the file, with its suppressions."""


@dataclass(frozen=True)
class Looked:
    path: str
    problems: list[Problem]
    declared: Declared | None


def _look(file: Path, *, survey: Survey | None) -> Looked:
    """One file by itself."""
    with _uncollected():
        flow, found, text = _read(file)
        found = found if flow is None else [*found, *check_flow(flow)]
    path, declared = shown_path(file), None
    if flow is not None:
        if survey is not None:
            found += survey.check(flow)
        assert flow.source is not None
        declared = Declared(flow.name, path, flow.source.locate(("flow",)).value, text)
    unchecked = not_looked_for(has_handlers=survey is not None)
    return Looked(path, suppress(found, text, path, unchecked=unchecked), declared)


def _twin_problems(declared: Declared, before: dict[str, Declared]) -> list[Problem]:
    """Whether the flow type is one of `before`, where it is put otherwise."""
    twin = before.setdefault(declared.name, declared)
    if twin is declared:
        return []
    found = twin_problem(declared.name, declared.path, declared.span, twin.path, twin.span)
    return suppress([found], declared.text, declared.path, unchecked=CODES)


@contextmanager
def _uncollected() -> Iterator[None]:
    """A definition is a tree, freed as it is let go: looking for cycles while it grows finds none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def lint_text(text: str, path: str = STDIN, survey: Survey | None = None) -> list[Problem]:
    """The problems of a definition that stands in no file, or not yet; with a survey also of its handlers."""
    flow, problems = parse(text, path)
    found = problems if flow is None else check_flow(flow)
    if flow is not None and survey is not None:
        found = [*found, *survey.check(flow)]
    unchecked = not_looked_for(has_handlers=survey is not None)
    return sorted(suppress(found, text, path, unchecked=unchecked), key=sort_key)


def check_flow(flow: Flow) -> list[Problem]:
    """What the rules find in a definition that the loader accepts."""
    facts = Facts(flow)
    return [*check_executable(flow), *(problem for rule in all_rules() for problem in rule(facts))]


def check_handlers(flow: Flow) -> list[Problem]:
    """Imports the handlers of one flow, and reads their source."""
    return start_survey(()).check(flow)


def start_survey(files: Sequence[Path]) -> Survey:
    """Of the handlers of these files' flows."""
    from orchestrator.binding.survey import Survey

    return Survey(files)


def _read(file: Path) -> tuple[Flow | None, list[Problem], str]:
    """The flow or its problems, and the text that holds suppressions."""
    if str(file) == STANDARD_INPUT:
        text = sys.stdin.read()
        return *parse(text, STDIN), text
    flow, problems = read_file(file, shown_path(file))
    if flow is not None and flow.source is not None:
        return flow, problems, flow.source.text
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = ""
    return flow, problems, text
