"""`orchestrator rehearse`: flows under virtual time, with scripted or real handlers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from orchestrator.cli.options import Format, Output

if TYPE_CHECKING:
    from orchestrator.definition.problem import Problem
    from orchestrator.simulate.coverage import Coverage
    from orchestrator.simulate.performance import Performance
    from orchestrator.simulate.script import RehearsalFile

Played: TypeAlias = "list[tuple[RehearsalFile, list[Performance]]]"


def rehearse(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="*.rehearsal.yaml, directories, or flows with one beside them."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Only rehearsals whose name contains this."),
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say what of the flows the rehearsals took, and what not.")
    ] = False,
    coverage_image: Annotated[
        str | None,
        typer.Option(
            "--coverage-image", metavar="FILE", help="Paint the coverage of one flow on its diagram."
        ),
    ] = None,
    output: Output = Format.TEXT,
) -> int:
    """Run rehearsals: exit 0 all as expected, 1 differences or mistakes in a file, 2 usage."""
    import sys
    from contextlib import redirect_stdout

    from orchestrator.cli.output import emit
    from orchestrator.cli.rehearsals import coverage_as_json, performance_as_json

    files, problems = read_files(paths)
    if problems:
        report(problems, output)
        return 1
    with redirect_stdout(sys.stderr):
        played = play(files, names or [])
    measured = measure_all(played) if coverage or coverage_image else []
    if coverage_image is not None:
        paint(measured, played, coverage_image)
    if output is Format.TEXT:
        print_text(played, measured if coverage else [])
    else:
        result = {
            "schema": 1,
            "rehearsals": [performance_as_json(file, each) for file, all in played for each in all],
            **({"coverage": [coverage_as_json(each) for each in measured]} if coverage else {}),
        }
        emit(result, output, str)
    return 0 if all(each.is_passed for _, all in played for each in all) else 1


def read_files(paths: list[str]) -> tuple[list[RehearsalFile], list[Problem]]:
    """Every file that has no problems, and the problems of the others."""
    from orchestrator.simulate.rehearsal import find_rehearsals, read_rehearsals

    read = [read_rehearsals(shown(path)) for path in find_rehearsals(paths)]
    problems = [problem for each in read for problem in each.problems]
    return [each.file for each in read if each.file is not None], problems


def report(problems: list[Problem], output: Format) -> None:
    """With the lines that are wrong; for machines as one error."""
    import sys

    from orchestrator.cli.terminal import has_colours, note
    from orchestrator.errors import DefinitionInvalid
    from orchestrator.lint.report import render_text

    if output is not Format.TEXT:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise DefinitionInvalid(f"nothing was rehearsed: {count}", tuple(problems))
    note(render_text(problems, has_colour=has_colours(sys.stderr)))
    note("nothing was rehearsed")


def shown(path: Path) -> Path:
    """As seen from the working directory, where the file is below it."""
    resolved = path.resolve()
    return resolved.relative_to(Path.cwd()) if resolved.is_relative_to(Path.cwd()) else path


def play(files: list[RehearsalFile], names: list[str]) -> Played:
    from orchestrator.errors import NotFound
    from orchestrator.simulate.calls import BoundFlows
    from orchestrator.simulate.flows import FlowSource
    from orchestrator.simulate.performance import rehearse as perform

    bound = BoundFlows()
    played: Played = []
    for file in files:
        flows = FlowSource(file.flow, Path(file.flow_path).parent)
        chosen = [
            rehearsal
            for rehearsal in file.rehearsals
            if not names or any(name in rehearsal.name for name in names)
        ]
        performances = [perform(file, rehearsal, bound=bound, flows=flows) for rehearsal in chosen]
        if performances:
            played.append((file, performances))
    if not played:
        raise NotFound(f"no rehearsal is named like {', '.join(names)}")
    return played


def measure_all(played: Played) -> list[Coverage]:
    """One for each flow; children that ran for real count for their own flow."""
    from orchestrator.simulate.coverage import measure

    runs = [run for _, performances in played for each in performances for run in each.runs]
    flows = {file.flow.hash: file.flow for file, _ in played}
    return [measure(flow, runs) for flow in flows.values()]


def paint(measured: list[Coverage], played: Played, image: str) -> None:
    from orchestrator.cli.commands.render import STDOUT, choose_format, write
    from orchestrator.cli.rehearsals import paint_coverage
    from orchestrator.cli.terminal import warn
    from orchestrator.errors import UsageError
    from orchestrator.render.image import render

    if image == STDOUT:
        raise UsageError("--coverage-image: name a file; on stdout is the report")
    if len(measured) != 1:
        raise UsageError("--coverage-image paints one flow: name one rehearsal file")
    wanted = choose_format(None, image)
    overlay = paint_coverage(measured[0], [each for _, performances in played for each in performances])
    write(render(measured[0].flow, wanted.value, overlay=overlay, tell=warn), image, wanted)


def print_text(played: Played, measured: list[Coverage]) -> None:
    from orchestrator.cli.rehearsals import coverage_as_text, performance_as_text
    from orchestrator.cli.terminal import say

    for file, performances in played:
        say(file.source.path)
        for performance in performances:
            say(performance_as_text(file, performance))
    for coverage in measured:
        say()
        say(coverage_as_text(coverage, coverage.flow.source.path if coverage.flow.source else ""))
    count = sum(len(performances) for _, performances in played)
    failed = sum(not each.is_passed for _, performances in played for each in performances)
    say()
    say(
        f"{count} rehearsal{'s' if count > 1 else ''}, "
        + (f"{failed} failed" if failed else "all as expected")
    )
