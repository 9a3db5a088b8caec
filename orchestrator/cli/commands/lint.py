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
    SARIF = "sarif"
    JUNIT = "junit"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Preset(StrEnum):
    RECOMMENDED = "recommended"
    STRICT = "strict"
    SYNTAX = "syntax"


Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Files, directories or globs of *.flow.yaml; - is standard input."),
]
Format = Annotated[Report, typer.Option("--format", "-f", "--output", "-o", help="How problems are printed.")]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="CODE", help="Only these codes or families; may be repeated."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="CODE", help="Not these codes or families; may be repeated."),
]
Chosen = Annotated[
    Preset | None,
    typer.Option(
        "--preset", help="recommended: errors and warnings; strict: infos too; syntax: shape and names only."
    ),
]
Accepted = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="Report only problems that this file does not accept."),
]
Accept = Annotated[
    bool, typer.Option("--write-baseline", help="Accept all present problems: write them to the baseline.")
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
    str | None,
    typer.Option("--explain", metavar="CODE", help="Say what a code or a family means."),
]


def lint(
    paths: Paths = None,
    report: Format = Report.TEXT,
    select: Select = None,
    ignore: Ignore = None,
    preset: Chosen = None,
    fail_on: FailOn = Severity.ERROR,
    strict: Strict = False,
    handlers: Handlers = False,
    fix: Repair = False,
    unsafe_fixes: Unsafe = False,
    diff: Diff = False,
    baseline: Accepted = None,
    write_baseline: Accept = False,
    explain: Explain = None,
) -> int:
    """Find mistakes: exit 0 none, 1 problems, 2 usage."""
    from dataclasses import replace

    from orchestrator.cli.lint_settings import resolve_lint_settings
    from orchestrator.cli.linting import Linting
    from orchestrator.cli.mending import Mending
    from orchestrator.errors import UsageError
    from orchestrator.lint.selection import is_failing

    if explain is not None:
        explain_code(explain)
        return 0
    if baseline == "-":
        raise UsageError("--baseline: name a file; `-` is standard input or stdout, which it cannot be")
    if not paths:
        raise UsageError("name the files or directories to look at: orchestrator lint flows/")
    least = (Severity.WARNING if strict else fail_on).value
    chosen = preset.value if preset else None
    settings = resolve_lint_settings(select, ignore, preset=chosen, fail_on=least)
    settings = replace(settings, baseline=baseline or settings.baseline)
    mending = Mending(paths, settings.selection, allows_unsafe=unsafe_fixes, has_handlers=handlers)
    if diff:
        return mending.show()
    if unsafe_fixes and not fix:
        raise UsageError("--unsafe-fixes goes with --fix or --diff")
    text = mending.mend() if fix else None
    linting = Linting(paths, settings, has_handlers=handlers, text=text)
    problems = linting.find()
    if write_baseline:
        linting.accept(problems)
        return 0
    selected = linting.select(problems)
    linting.report(selected, report.value, fail_on=least, is_text_out=text is not None)
    return 1 if is_failing(selected, least) else 0


def explain_code(word: str) -> None:
    """A code or name; of a family such as GRA, all its codes in a line each."""
    from orchestrator.cli.terminal import say
    from orchestrator.definition.explanations import explain, find_code
    from orchestrator.definition.nearness import did_you_mean
    from orchestrator.errors import NotFound

    found = find_code(word)
    if found is not None:
        say(explain()[found].as_text())
        return
    family = [about for code, about in explain().items() if code[:3] == word.upper()]
    if not family:
        names = [about.name for about in explain().values()]
        help = did_you_mean(word, [*explain(), *names]) or "see docs/rules/README.md"
        raise NotFound(f"there is no problem `{word}`; {help}", code=word)
    for about in family:
        say(f"{about.code} {about.name}: {about.what}")
