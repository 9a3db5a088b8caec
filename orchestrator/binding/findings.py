"""What is wrong with a handler, at the place where the definition names it and where the function stands."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.binding.method import Method
from orchestrator.binding.source.files import PythonFile
from orchestrator.definition.codes import CODES
from orchestrator.definition.model import Flow, Path
from orchestrator.definition.problem import Fix, LabelledSpan, Problem


@dataclass(frozen=True)
class PythonPlace:
    """A piece of a Python file, and what to say there."""

    file: PythonFile
    node: ast.AST
    label: str


def find_problem(
    method: Method,
    code: str,
    message: str,
    *,
    place: PythonPlace | None = None,
    at: Path | None = None,
    also: Sequence[tuple[Path, str]] = (),
    help: str = "",
    severity: str | None = None,
    fix: Fix | None = None,
) -> Problem:
    """At the handler's name, or at another part of the definition (`at`); the message ends with the place."""
    path = (*method.path, "handler") if at is None else at
    shown = f"{message} ({place.file.place(place.node)})" if place is not None else message
    return problem_at(
        method.flow, code, shown, path, place=place, also=also, help=help, severity=severity, fix=fix
    )


def problem_at(
    flow: Flow,
    code: str,
    message: str,
    path: Path,
    *,
    place: PythonPlace | None = None,
    also: Sequence[tuple[Path, str]] = (),
    help: str = "",
    severity: str | None = None,
    fix: Fix | None = None,
) -> Problem:
    source = flow.source
    if source is None:
        raise ValueError("the flow was not loaded from a file")
    spans = [LabelledSpan(source.path, source.locate(each).value, label) for each, label in also]
    if place is not None:
        spans.append(place.file.label(place.node, place.label))
    return Problem(
        code,
        message,
        source.path,
        source.locate(path).value,
        help=help,
        severity=severity or CODES[code].severity,
        confidence=CODES[code].confidence,
        flow=flow.name,
        spans=tuple(spans),
        fix=fix,
    )
