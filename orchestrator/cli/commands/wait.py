"""`orchestrator wait`: until a run is closed."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output


def wait(
    flow_id: FlowId,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="DURATION", help="How long, e.g. 30s; without it for ever."),
    ] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> int:
    """Wait until a run is closed.

    Exit 0 COMPLETED, 1 closed otherwise, 3 timed out.
    """
    from orchestrator.cli.options import parse_span
    from orchestrator.cli.output import emit_run, exit_code_of
    from orchestrator.cli.session import open_client

    limit = parse_span(timeout, "--timeout")
    with open_client(db) as client:
        closed = client.wait(flow_id, timeout=limit)
        emit_run(closed, output)
    return exit_code_of(closed)
