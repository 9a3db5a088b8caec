"""`orchestrator lint`: the mistakes of flows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orchestrator.definition.problem import Problem
    from orchestrator.definition.source import Source


class Report(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"
    GITHUB = "github"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


Codes = list[str] | None
Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Files or directories with *.flow.yaml; - is standard input."),
]
STDIN = "<stdin>"


def lint(
    paths: Paths = None,
    report: Annotated[Report, typer.Option("--format", help="How problems are printed.")] = Report.TEXT,
    select: Annotated[
        Codes, typer.Option("--select", metavar="CODE", help="Only these codes or families.")
    ] = None,
    ignore: Annotated[
        Codes, typer.Option("--ignore", metavar="CODE", help="Not these codes or families.")
    ] = None,
    fail_on: Annotated[
        Severity, typer.Option("--fail-on", help="Exit 1 from this severity on.")
    ] = Severity.ERROR,
    strict: Annotated[bool, typer.Option("--strict", help="The same as --fail-on warning.")] = False,
    handlers: Annotated[
        bool, typer.Option("--handlers", help="Import the handlers and check them too.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means.")
    ] = None,
) -> int:
    """Find mistakes: exit 0 none, 1 problems, 2 usage."""
    from orchestrator.cli.terminal import note
    from orchestrator.errors import UsageError
    from orchestrator.lint.selection import is_failing, select_problems

    if explain is not None:
        explain_code(explain)
        return 0
    if not paths:
        raise UsageError("name the files or directories to look at: orchestrator lint flows/")
    problems, sources = find_problems(paths, handlers)
    selected = select_problems(problems, select or (), ignore or ())
    print_report(selected, report, sources)
    if not selected:
        note(f"{', '.join(paths)}: no problems")
    return 1 if is_failing(selected, (Severity.WARNING if strict else fail_on).value) else 0


def find_problems(paths: list[str], has_handlers: bool) -> tuple[list[Problem], dict[str, Source]]:
    """All problems, and the text of standard input where that was asked for."""
    import sys
    from contextlib import redirect_stdout

    from orchestrator.definition.source import Source
    from orchestrator.errors import UsageError
    from orchestrator.lint.runner import lint_paths, lint_text

    if "-" in paths:
        if len(paths) > 1 or has_handlers:
            raise UsageError("standard input (-) is linted alone, without --handlers")
        text = sys.stdin.read()
        return lint_text(text, STDIN), {STDIN: Source(STDIN, text)}
    with redirect_stdout(sys.stderr):
        return lint_paths(paths, has_handlers=has_handlers), {}


def print_report(problems: list[Problem], report: Report, sources: dict[str, Source]) -> None:
    import sys

    from orchestrator.cli.terminal import has_colours, say
    from orchestrator.lint.report import render

    text = render(problems, report.value, sources=sources, has_colour=has_colours(sys.stdout))
    if text:
        say(text)


def explain_code(code: str) -> None:
    from orchestrator.cli.terminal import say
    from orchestrator.definition.codes import CODES
    from orchestrator.errors import NotFound

    for known, about in CODES.items():
        if code.upper() == known or code.lower() == about.name:
            say(f"{known} {about.name}: {about.explanation}")
            return
    raise NotFound(f"there is no problem `{code}`; see docs/reference/problems.md", code=code)
