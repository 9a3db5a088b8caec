"""`orchestrator diff`: what changed between two versions of a flow, and whether runs can go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Format, Mapping, NewVersion, OldVersion, Output

if TYPE_CHECKING:
    from orchestrator.core.migration.comparison import Comparison
    from orchestrator.diff.report import Difference
    from orchestrator.engine.client import Client

PICTURES = ("svg", "png", "pdf", "dot", "gv")


def diff(
    old: OldVersion,
    new: NewVersion,
    mapping: Mapping = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image",
            metavar="FILE",
            help="Draw both as one: added green, removed red, changed amber. Ends in svg, png, pdf or dot.",
            show_default=False,
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            help="Count the live runs of OLD at each place; only where there are any counts then.",
            show_default=False,
        ),
    ] = None,
    output: Output = Format.TEXT,
) -> int:
    """Tell what changed, and for every place where a run may be whether it can go on under NEW.

    Exit 0: all that counts is compatible; 1: something needs a mapping or is impossible; 2: usage.
    """
    from contextlib import nullcontext

    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.versions import compare_versions
    from orchestrator.core.migration.verdicts import Verdict
    from orchestrator.diff.report import as_json, as_text

    picture = check_picture(image)
    with open_client(db) if db is not None else nullcontext() as client:
        case = compare_versions(old, new, mapping, client)
        difference = describe_difference(case, client)
    if image is not None:
        draw(case, difference, picture, image)
    if output is Format.TEXT:
        emit(difference, output, as_text)
    else:
        emit(as_json(difference), output, str)
    return 0 if difference.verdict is Verdict.COMPATIBLE else 1


def describe_difference(case: Comparison, client: Client | None) -> Difference:
    """`client`: of the store whose live runs count."""
    from orchestrator.diff.comparing import compare
    from orchestrator.diff.places import count_runs, judge_places
    from orchestrator.diff.report import Difference

    changes = tuple(compare(case.old, case.new, case.renaming))
    places = judge_places(case)
    if client is None:
        return Difference(case.old, case.new, changes, tuple(places))
    from orchestrator.engine.migrating import survey

    runs = list(survey(client.engine, case))
    counted = count_runs(places, ((run.places, run.obstacles) for run in runs))
    movable_count = sum(not run.obstacles for run in runs)
    return Difference(case.old, case.new, changes, tuple(counted), len(runs), movable_count)


def check_picture(image: str | None) -> str:
    from pathlib import Path

    from orchestrator.errors import UsageError

    suffix = Path(image).suffix.lstrip(".").lower() if image is not None else "svg"
    if suffix not in PICTURES:
        raise UsageError(
            f"--image: `{image}` must end in one of {', '.join('.' + each for each in PICTURES)}"
        )
    return "dot" if suffix == "gv" else suffix


def draw(case: Comparison, difference: Difference, picture: str, image: str) -> None:
    from orchestrator.cli.commands.render import Picture, write
    from orchestrator.cli.terminal import warn
    from orchestrator.diff.comparing import renamed_steps
    from orchestrator.render.image import render_difference

    wanted = Picture(picture)
    renamed = renamed_steps(difference.changes)
    drawn = render_difference(case.old, case.new, wanted.value, renamed=renamed, tell=warn)
    write(drawn, image, wanted)
