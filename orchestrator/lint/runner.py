"""Checks files and directories of definitions; one list of problems for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.definition.catalogue import SUFFIX, find_files, read_file, twin_problem
from orchestrator.definition.executable import check_executable
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem, sort_key
from orchestrator.errors import UsageError


@dataclass
class Findings:
    """What linting found, and the flows that have no errors, by the path shown."""

    problems: list[Problem] = field(default_factory=list)
    flows: dict[str, Flow] = field(default_factory=dict)
    file_count: int = 0

    def add(self, path: str, flow: Flow | None, problems: list[Problem]) -> None:
        self.file_count += 1
        self.problems.extend(problems)
        if flow is None:
            return
        self.problems.extend(check_executable(flow))
        twin = next((other for other in self.flows.values() if other.name == flow.name), None)
        if twin is not None:
            self.problems.append(twin_problem(flow, twin))
        self.flows[path] = flow


def lint_paths(paths: Iterable[str | Path]) -> list[Problem]:
    """All problems of files and of every `*.flow.yaml` under directories, in file order."""
    return lint_files(paths).problems


def lint_files(paths: Iterable[str | Path]) -> Findings:
    """Like `lint_paths`, with the flows as well; a directory without flows is a usage error."""
    findings = Findings()
    paths = list(paths)
    for path in paths:
        if Path(path).is_dir() and not find_files([path]):
            raise UsageError(f"no *{SUFFIX} under {path}")
    for file in find_files(paths):
        shown = relative_path(file)
        flow, problems = read_file(file, shown)
        findings.add(shown, flow, problems)
    findings.problems.sort(key=sort_key)
    return findings


def lint_text(text: str, path: str = "<stdin>") -> Findings:
    """A definition that stands in no file."""
    findings = Findings()
    flow, problems = parse(text, path)
    findings.add(path, flow, problems)
    findings.problems.sort(key=sort_key)
    return findings


def relative_path(path: Path) -> str:
    """As seen from the working directory, where the file is below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
