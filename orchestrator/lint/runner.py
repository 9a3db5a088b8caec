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

STANDARD_INPUT = "-"


def lint_paths(paths: Iterable[str | Path], *, has_handlers: bool = False) -> list[Problem]:
    """All problems of files and of every `*.flow.yaml` under directories, in file order.

    `-` is standard input. With `has_handlers` the handlers are imported and checked too.
    A directory without flows is a usage error.
    """
    problems: list[Problem] = []
    flows: list[Flow] = []
    paths = list(paths)
    for path in paths:
        if Path(path).is_dir() and not find_files([path]):
            raise UsageError(f"there is no *{SUFFIX} under {path}")
    for file in find_files(paths):
        flow, found = _read(file)
        problems += found
        if flow is None:
            continue
        problems += check_executable(flow)
        if has_handlers:
            problems += check_handlers(flow)
        twin = next((other for other in flows if other.name == flow.name), None)
        problems += [twin_problem(flow, twin)] if twin is not None else []
        flows.append(flow)
    return sorted(problems, key=sort_key)


def lint_text(text: str, path: str = "<stdin>") -> list[Problem]:
    """The problems of a definition that stands in no file."""
    flow, problems = parse(text, path)
    return problems if flow is None else check_executable(flow)


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


def _read(file: Path) -> tuple[Flow | None, list[Problem]]:
    if str(file) != STANDARD_INPUT:
        return read_file(file, _shown(file))
    return parse(sys.stdin.read(), "<stdin>")


def _shown(path: Path) -> str:
    """As seen from the working directory, where the file is below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
