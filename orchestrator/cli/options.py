"""Options that several commands share; they stand after the command."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from orchestrator.errors import UsageError


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class Traces(StrEnum):
    OTLP = "otlp"
    CONSOLE = "console"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="Database of the runs. Env ORCHESTRATOR_DB; default sqlite:///orchestrator.db.",
        show_default=False,
    ),
]
Flows = Annotated[
    list[str] | None,
    typer.Option(
        "--flows",
        metavar="PATH",
        help="File or directory with *.flow.yaml; may be repeated. Env ORCHESTRATOR_FLOWS; default flows/.",
        show_default=False,
    ),
]
Output = Annotated[
    Format, typer.Option("--output", "-o", help="How the result is printed.", case_sensitive=False)
]
FlowId = Annotated[str, typer.Argument(metavar="ID", help="Flow id of the run.", show_default=False)]
FlowPath = Annotated[
    str, typer.Argument(metavar="PATH", help="The flow, a *.flow.yaml file.", show_default=False)
]
Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="VALUE", help="Start input: JSON, @file or - (stdin).", show_default=False
    ),
]

NewFlowId = Annotated[
    str, typer.Option("--id", metavar="ID", help="Flow id of the new run.", show_default=False)
]
Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute", metavar="NAME=VALUE", help="Initial attribute; may be repeated.", show_default=False
    ),
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, max=10_000, help="Handlers that run at the same time.")
]


OldVersion = Annotated[
    str,
    typer.Argument(
        metavar="OLD",
        help="The version that runs have: a *.flow.yaml file, git:REV:PATH, or the hash of a stored one.",
        show_default=False,
    ),
]
NewVersion = Annotated[
    str, typer.Argument(metavar="NEW", help="The other version, named the same way.", show_default=False)
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="KIND:OLD=NEW",
        help="A renamed step, channel, attribute, join or condition (condition:STEP/OLD=NEW); "
        "channel:OLD= or attribute:OLD= drops what is there. May be repeated.",
        show_default=False,
    ),
]


def parse_span(text: str | None, place: str) -> timedelta | None:
    """A duration of the language (`30s`, `1h30m`, a number of seconds)."""
    if text is None:
        return None
    from orchestrator.definition.durations import parse_duration

    try:
        return parse_duration(float(text) if text.replace(".", "", 1).isdigit() else text)
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from None
