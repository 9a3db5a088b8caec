"""`orchestrator lint`: the mistakes of flows."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


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


def lint(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files or directories with *.flow.yaml; - is standard input."),
    ] = None,
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
    """Find mistakes in flows: exit 0 none, 1 problems, 2 usage."""
    from orchestrator.errors import UsageError

    if explain is not None:
        return explain_code(explain)
    if not paths:
        raise UsageError("name the files or directories to look at: orchestrator lint flows/")
    return lint_files(paths, report, select, ignore, Severity.WARNING if strict else fail_on, handlers)


def lint_files(
    paths: list[str], report: Report, select: Codes, ignore: Codes, fail_on: Severity, handlers: bool
) -> int:
    import sys

    from orchestrator.cli.terminal import has_colours, note, say
    from orchestrator.lint import report as reports
    from orchestrator.lint.runner import lint_paths
    from orchestrator.lint.selection import is_failing, select_problems

    problems = select_problems(lint_paths(paths, has_handlers=handlers), select or (), ignore or ())
    text = reports.render(problems, report.value, has_colour=has_colours(sys.stdout))
    if text:
        say(text.rstrip("\n"))
    if not problems:
        note(f"{', '.join(paths)}: no problems")
    return 1 if is_failing(problems, fail_on.value) else 0


def explain_code(code: str) -> int:
    from orchestrator.cli.terminal import say
    from orchestrator.definition.codes import CODES
    from orchestrator.errors import NotFound

    wanted = code.upper()
    for known, about in CODES.items():
        if wanted == known or code == about.name:
            say(f"{known} {about.name}\n\n{about.explanation}")
            return 0
    raise NotFound(f"there is no problem `{code}`; the codes are in docs/reference/problems.md", code=code)
