"""`orchestrator list`: the runs of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, Format, Output


def list_runs(
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="EXPR",
            help="CEL over flow, flow_id, status, started_at, closed_at, attributes (indexed ones), steps.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="List no more than N runs.")
    ] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """List runs, newest first."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import now, open_client
    from orchestrator.cli.views import runs_as_text

    with open_client(db) as client:
        runs = client.search(where, limit=limit)
    emit(runs, output, lambda found: runs_as_text(found, now()) if found else "")
