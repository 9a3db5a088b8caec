"""`orchestrator lint`: the mistakes of flows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.definition.problem import Problem
    from orchestrator.definition.source import Source


class Report(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Files or directories with *.flow.yaml; - is standard input."),
]
Format = Annotated[Report, typer.Option("--format", help="How problems are printed.")]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="CODE", help="Only these codes or families; may be repeated."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="CODE", help="Not these codes or families; may be repeated."),
]
FailOn = Annotated[Severity, typer.Option("--fail-on", help="Exit 1 from this severity on.")]
Strict = Annotated[bool, typer.Option("--strict", help="The same as --fail-on warning.")]
Handlers = Annotated[bool, typer.Option("--handlers", help="Import the handlers and check them too.")]
Repair = Annotated[
    bool, typer.Option("--fix", help="Mend what can only be meant in one way, then report the rest.")
]
Unsafe = Annotated[
    bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: also what is only very likely meant.")
]
Diff = Annotated[
    bool, typer.Option("--diff", help="Print what --fix would change, change nothing; exit 1 if anything.")
]
Explain = Annotated[
    str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means, with examples.")
]


def lint(
    paths: Paths = None,
    report: Format = Report.TEXT,
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOn = Severity.ERROR,
    strict: Strict = False,
    handlers: Handlers = False,
    fix: Repair = False,
    unsafe_fixes: Unsafe = False,
    diff: Diff = False,
    explain: Explain = None,
) -> int:
    """Find mistakes: exit 0 none, 1 problems, 2 usage."""
    from orchestrator.cli.mending import Mending
    from orchestrator.cli.settings import resolve_selection
    from orchestrator.cli.terminal import note
    from orchestrator.errors import UsageError
    from orchestrator.lint.selection import is_failing, select_problems

    if explain is not None:
        explain_code(explain)
        return 0
    if not paths:
        raise UsageError("name the files or directories to look at: orchestrator lint flows/")
    selection = resolve_selection(select, ignore)
    mending = Mending(paths, selection, allows_unsafe=unsafe_fixes)
    if diff:
        return mending.show()
    if unsafe_fixes and not fix:
        raise UsageError("--unsafe-fixes goes with --fix or --diff")
    text = mending.mend() if fix else None
    problems, sources = find_problems(paths, handlers, text)
    selected = select_problems(problems, *selection)
    least = (Severity.WARNING if strict else fail_on).value
    print_report(selected, report, sources, paths, fail_on=least, is_text_out=text is not None)
    if not selected:
        note(f"{', '.join(paths)}: no problems")
    return 1 if is_failing(selected, least) else 0


def find_problems(
    paths: list[str], has_handlers: bool, text: str | None = None
) -> tuple[list[Problem], dict[str, Source]]:
    """All problems, and the text of standard input (`text`, when it was read before) if asked for."""
    import sys
    from contextlib import redirect_stdout

    from orchestrator.definition.source import Source
    from orchestrator.errors import UsageError
    from orchestrator.lint.runner import STDIN, lint_paths, lint_text

    if "-" in paths:
        if len(paths) > 1 or has_handlers:
            raise UsageError("standard input (-) is linted alone, without --handlers")
        text = sys.stdin.read() if text is None else text
        return lint_text(text, STDIN), {STDIN: Source(STDIN, text)}
    with redirect_stdout(sys.stderr):
        return lint_paths(paths, has_handlers=has_handlers), {}


def print_report(
    problems: list[Problem],
    report: Report,
    sources: dict[str, Source],
    paths: Sequence[str],
    *,
    fail_on: str,
    is_text_out: bool,
) -> None:
    """`is_text_out`: stdout has got the mended text, the report goes to stderr."""
    import sys

    from orchestrator.cli.terminal import has_colours, note, say
    from orchestrator.lint.report import render
    from orchestrator.lint.runner import listed_files, shown_path

    stream = sys.stderr if is_text_out else sys.stdout
    text = render(
        problems,
        report.value,
        sources=sources,
        has_colour=has_colours(stream),
        files=[shown_path(file) for file in listed_files(paths)],
        fail_on=fail_on,
    )
    if text:
        (note if is_text_out else say)(text)


def explain_code(code: str) -> None:
    from orchestrator.cli.terminal import say
    from orchestrator.definition.explanations import explain, find_code
    from orchestrator.definition.nearness import did_you_mean
    from orchestrator.errors import NotFound

    found = find_code(code)
    if found is None:
        names = [about.name for about in explain().values()]
        help = did_you_mean(code, [*explain(), *names]) or "see docs/rules/README.md"
        raise NotFound(f"there is no problem `{code}`; {help}", code=code)
    say(explain()[found].as_text())
