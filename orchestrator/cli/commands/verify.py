"""`orchestrator verify`: search every state of flows, and prove properties."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.commands.lint import Ignore, Report, Select, Severity, Strict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.cli.verifying import Bounds, Verification
    from orchestrator.definition.problem import Problem


class Unknown(StrEnum):
    WARN = "warn"
    FAIL = "fail"


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files, directories or globs of *.flow.yaml; - is standard input."),
]
Format = Annotated[
    Report, typer.Option("--output", "-o", "--format", "-f", help="How the result is printed.")
]
FanOut = Annotated[
    str | None,
    typer.Option(
        "--fan-out",
        metavar="N,…",
        help="Lengths tried for lists that depend on data; default 0,1,2,3, or what the flow says.",
        show_default=False,
    ),
]
MaxStates = Annotated[
    int, typer.Option("--max-states", min=1, help="A flow with more states is not decided.")
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="NAME", help="Only this property; may be repeated."),
]
TraceDirectory = Annotated[
    str | None,
    typer.Option(
        "--trace-dir", metavar="DIR", help="Write a rehearsal for every counterexample that can be played."
    ),
]
TraceImage = Annotated[
    str | None,
    typer.Option("--trace-image", metavar="FILE", help="Draw counterexamples on the flow's diagram."),
]
UnknownVerdict = Annotated[
    Unknown, typer.Option("--unknown", help="Whether a property that is not decided is a failure.")
]
FailOn = Annotated[Severity, typer.Option("--fail-on", help="Exit 1 for violations from this severity on.")]


def verify(
    paths: Paths,
    output: Format = Report.TEXT,
    fan_out: FanOut = None,
    max_states: MaxStates = 200_000,
    properties: Properties = None,
    trace_dir: TraceDirectory = None,
    trace_image: TraceImage = None,
    unknown: UnknownVerdict = Unknown.WARN,
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOn = Severity.WARNING,
    strict: Strict = False,
) -> int:
    """Search every state: exit 0 sound, 1 violated, 3 not decided."""
    from orchestrator.cli.lint_settings import resolve_lint_settings
    from orchestrator.cli.verifying import verify_paths
    from orchestrator.lint.selection import select_problems

    least = (Severity.WARNING if strict else fail_on).value
    settings = resolve_lint_settings(select, ignore, fail_on=least)
    directory = Path(trace_dir) if trace_dir is not None else None
    verification = verify_paths(paths, bounds_of(fan_out, max_states, properties), directory)
    problems = select_problems(verification.problems(), *settings.selection)
    print_verification(verification, problems, output, least)
    if trace_image is not None:
        draw(verification, problems, trace_image)
    return exit_code(problems, least, fails_unknown=unknown is Unknown.FAIL)


def bounds_of(fan_out: str | None, max_states: int, properties: list[str] | None) -> Bounds:
    from orchestrator.cli.verifying import Bounds

    return Bounds(parse_sizes(fan_out), max_states, tuple(properties) if properties else None)


def parse_sizes(text: str | None) -> tuple[int, ...] | None:
    from orchestrator.errors import UsageError

    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words):
        raise UsageError(f"--fan-out: `{text}` is not a list of lengths; write --fan-out 0,1,2,3")
    return tuple(sorted({int(word) for word in words}))


def exit_code(problems: Sequence[Problem], least: str, *, fails_unknown: bool) -> int:
    from orchestrator.lint.selection import is_failing
    from orchestrator.verify.problems import STATE_LIMIT

    limits = [problem for problem in problems if problem.code == STATE_LIMIT]
    if is_failing([problem for problem in problems if problem.code != STATE_LIMIT], least):
        return 1
    if not limits:
        return 0
    return 1 if fails_unknown else 3


def print_verification(
    verification: Verification, problems: list[Problem], output: Report, least: str
) -> None:
    import json
    import sys

    from orchestrator.cli.terminal import has_colours, painter, say_report
    from orchestrator.cli.verdicts import (
        verification_as_json,
        verification_as_jsonl,
        verification_as_text,
    )
    from orchestrator.lint.report import render

    if output is Report.TEXT:
        colour = has_colours(sys.stdout)
        text = verification_as_text(verification, problems, painter(sys.stdout), has_colour=colour)
    elif output is Report.JSON:
        text = json.dumps(verification_as_json(verification, problems), ensure_ascii=False, indent=2)
    elif output is Report.JSONL:
        text = verification_as_jsonl(verification)
    else:
        text = render(problems, output.value, files=verification.files, fail_on=least)
    if text:
        say_report(text, output.value)


def draw(verification: Verification, problems: Sequence[Problem], file: str) -> None:
    from orchestrator.cli.traces import draw_traces

    draw_traces(verification, problems, file)
