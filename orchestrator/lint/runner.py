"""Checks files and directories of definitions; one list of problems for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, find_files, read_file, twin_problem
from orchestrator.definition.executable import check_executable
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem, sort_key
from orchestrator.errors import UsageError
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import all_rules
from orchestrator.lint.suppression import not_looked_for, suppress

STANDARD_INPUT = "-"
STDIN = "<stdin>"
"""Its path in problems."""


def lint_paths(paths: Iterable[str | Path], *, has_handlers: bool = False) -> list[Problem]:
    """All problems of files and of every `*.flow.yaml` under directories, in file order.

    `-` is standard input. With `has_handlers` the handlers are imported and checked too.
    A directory without flows is a usage error.
    """
    problems: list[Problem] = []
    flows: list[Flow] = []
    unchecked = not_looked_for(has_handlers=has_handlers)
    for file in listed_files(paths):
        flow, found, text = _read(file)
        if flow is not None:
            found = [*found, *check_flow(flow)]
            if has_handlers:
                found += check_handlers(flow)
            twin = next((other for other in flows if other.name == flow.name), None)
            found += [twin_problem(flow, twin)] if twin is not None else []
            flows.append(flow)
        problems += suppress(found, text, shown_path(file), unchecked=unchecked)
    return sorted(problems, key=sort_key)


def lint_text(text: str, path: str = STDIN) -> list[Problem]:
    """The problems of a definition that stands in no file."""
    flow, problems = parse(text, path)
    found = problems if flow is None else check_flow(flow)
    return sorted(suppress(found, text, path), key=sort_key)


def check_flow(flow: Flow) -> list[Problem]:
    """What the rules find in a definition that the loader accepts."""
    facts = Facts(flow)
    return [*check_executable(flow), *(problem for rule in all_rules() for problem in rule(facts))]


def listed_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files to look at, in their order."""
    paths = list(paths)
    for path in paths:
        if Path(path).is_dir() and not find_files([path]):
            raise UsageError(f"there is no *{SUFFIX} under {path}")
    return find_files(paths)


def shown_path(path: Path) -> str:
    """As seen from the working directory, where the file is below it."""
    if str(path) == STANDARD_INPUT:
        return STDIN
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def check_handlers(flow: Flow) -> list[Problem]:
    """Imports the handlers; the problems of binding them, where the definition names them."""
    from orchestrator.binding.registry import Bindings

    assert flow.source is not None
    problems = []
    for found in Bindings(flow).problems():
        span = flow.source.locate(found.path).value
        path = flow.source.path
        problems.append(Problem(found.code, found.message, path, span, help=found.help, flow=flow.name))
    return problems


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
