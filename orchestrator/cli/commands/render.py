"""`orchestrator render`: the diagram of a flow."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Db, FlowPath

if TYPE_CHECKING:
    from orchestrator.render.overlay import RunOverlay


class Picture(StrEnum):
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"
    DOT = "dot"
    MERMAID = "mermaid"


class Theme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


class Direction(StrEnum):
    TOP_DOWN = "TB"
    LEFT_RIGHT = "LR"


LAYERS = ("control", "failure", "channels", "attributes")
SUFFIXES = {"mmd": Picture.MERMAID, "gv": Picture.DOT, **{picture.value: picture for picture in Picture}}
BINARY = (Picture.PNG, Picture.PDF)
STDOUT = "-"


def render(
    path: FlowPath,
    picture: Annotated[
        Picture | None,
        typer.Option("--format", "-f", help="Default: what FILE ends in, else svg.", show_default=False),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-O", metavar="FILE", help="Where to write; - is stdout, the default."),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Paint the state of this run.")
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(
            "--layers", metavar="NAMES", help=f"Of {','.join(LAYERS)}; default control,failure,channels."
        ),
    ] = None,
    direction: Annotated[
        Direction, typer.Option("--direction", help="Top-down or left-right.")
    ] = Direction.TOP_DOWN,
    theme: Annotated[Theme, typer.Option("--theme", help="Colours.")] = Theme.LIGHT,
    legend: Annotated[bool, typer.Option("--legend", help="Explain shapes and colours.")] = False,
    db: Db = None,
) -> None:
    """Draw a flow."""
    from orchestrator.cli.flow_files import load_named
    from orchestrator.cli.terminal import warn
    from orchestrator.render.image import render as draw

    wanted = choose_format(picture, file)
    shown = parse_layers(layers)
    flow = load_named(path)
    overlay = overlay_of(run, db) if run is not None else None
    options = {} if shown is None else {"layers": shown}
    image = draw(
        flow,
        wanted.value,
        theme=theme.value,
        direction=direction.value,
        legend=legend,
        overlay=overlay,
        tell=warn,
        **options,
    )
    write(image, file, wanted)


def overlay_of(flow_id: str, db: str | None) -> RunOverlay:
    from orchestrator.cli.overlay import paint_run
    from orchestrator.cli.session import now, open_client

    with open_client(db) as client:
        return paint_run(client.describe(flow_id), client.history(flow_id), now())


def choose_format(picture: Picture | None, file: str | None) -> Picture:
    import sys

    from orchestrator.cli.terminal import is_terminal
    from orchestrator.errors import UsageError

    suffix = Path(file).suffix.lstrip(".").lower() if file else ""
    wanted = picture or (SUFFIXES.get(suffix) if suffix else Picture.SVG)
    if wanted is None:
        raise UsageError(f"cannot tell the format of `{file}`: give -f {'|'.join(Picture)}")
    if file in (None, STDOUT) and wanted in BINARY and is_terminal(sys.stdout):
        raise UsageError(
            f"a {wanted.value.upper()} is nothing for a terminal: write it to a file with -O flow.{wanted}"
        )
    return wanted


def parse_layers(text: str | None) -> frozenset[str] | None:
    from orchestrator.errors import UsageError

    if text is None:
        return None
    named = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(named - set(LAYERS))
    if unknown or not named:
        raise UsageError(f"--layers: `{text}` is not a list of {', '.join(LAYERS)}")
    return named


def write(image: bytes, file: str | None, wanted: Picture) -> None:
    import sys

    from orchestrator.cli.terminal import note
    from orchestrator.errors import UsageError

    if file is None or file == STDOUT:
        sys.stdout.buffer.write(image)
        return
    try:
        Path(file).write_bytes(image)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    note(f"wrote {file} ({wanted.value}, {len(image):,} bytes)")
