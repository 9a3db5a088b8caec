"""Rehearse a flow given as text: its rehearsals, their performances."""

from __future__ import annotations

import textwrap
from pathlib import Path

from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import Performance, rehearse
from orchestrator.simulate.rehearsal import read_rehearsals
from orchestrator.simulate.script import RehearsalFile


def write(directory: Path, flow: str, rehearsals: str, name: str = "test") -> Path:
    """`<name>.flow.yaml` and the rehearsals beside it; the path of these."""
    (directory / f"{name}.flow.yaml").write_text(textwrap.dedent(flow), encoding="utf-8")
    path = directory / f"{name}.rehearsal.yaml"
    path.write_text(textwrap.dedent(rehearsals), encoding="utf-8")
    return path


def read(path: Path) -> RehearsalFile:
    """Problems of the file fail the test."""
    parsed = read_rehearsals(path)
    assert parsed.file is not None, "\n".join(problem.concise() for problem in parsed.problems)
    return parsed.file


def problems_of(directory: Path, flow: str, rehearsals: str) -> list[str]:
    """`line:column CODE message`, in file order."""
    return [
        f"{problem.span.line}:{problem.span.column} {problem.code} {problem.message}"
        for problem in read_rehearsals(write(directory, flow, rehearsals)).problems
    ]


def perform(directory: Path, flow: str, rehearsals: str) -> list[Performance]:
    file = read(write(directory, flow, rehearsals))
    bound = BoundFlows([directory])
    flows = FlowSource(file.flow, directory)
    return [rehearse(file, rehearsal, bound=bound, flows=flows) for rehearsal in file.rehearsals]


def differences_of(directory: Path, flow: str, rehearsals: str) -> list[str]:
    """`line:column message` of every difference."""
    file = read(write(directory, flow, rehearsals))
    found = []
    for performance in perform(directory, flow, rehearsals):
        for difference in performance.differences:
            span = file.source.locate(difference.at).value
            found.append(f"{span.line}:{span.column} {difference.message}")
    return found
