"""`orchestrator check`: lint and verify, what CI runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.commands.lint import FailOn, Handlers, Ignore, Report, Select, Severity, Strict
from orchestrator.cli.commands.verify import (
    FanOut,
    MaxStates,
    Paths,
    Properties,
    TraceDirectory,
    TraceImage,
    Unknown,
    UnknownVerdict,
    bounds_of,
    draw,
)

Format = Annotated[Report, typer.Option("--format", "-f", "--output", "-o", help="How problems are printed.")]


def check(
    paths: Paths,
    report: Format = Report.TEXT,
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOn = Severity.ERROR,
    strict: Strict = False,
    handlers: Handlers = False,
    fan_out: FanOut = None,
    max_states: MaxStates = 200_000,
    properties: Properties = None,
    trace_dir: TraceDirectory = None,
    trace_image: TraceImage = None,
    unknown: UnknownVerdict = Unknown.WARN,
) -> int:
    """Lint and verify: exit 0 none, 1 problems, 2 usage."""
    from orchestrator.cli.checking import Check
    from orchestrator.cli.lint_settings import resolve_lint_settings
    from orchestrator.lint.selection import is_failing
    from orchestrator.verify.problems import STATE_LIMIT

    least = (Severity.WARNING if strict else fail_on).value
    directory = Path(trace_dir) if trace_dir is not None else None
    checking = Check(
        paths,
        resolve_lint_settings(select, ignore, fail_on=least),
        bounds_of(fan_out, max_states, properties),
        has_handlers=handlers,
    )
    verification, problems = checking.find(directory)
    checking.report(verification, problems, report.value, least)
    if trace_image is not None:
        draw(verification, problems, trace_image)
    is_undecided = any(problem.code == STATE_LIMIT for problem in problems)
    is_failed = is_failing(problems, least) or (is_undecided and unknown is Unknown.FAIL)
    return 1 if is_failed else 0
