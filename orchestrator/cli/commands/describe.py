"""`orchestrator describe`: one run as it stands."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output


def describe(
    flow_id: FlowId,
    messages: Annotated[bool, typer.Option("--messages", help="Show the unread messages too.")] = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Show a run as it stands."""
    from orchestrator.cli.output import emit_run
    from orchestrator.cli.session import open_client

    with open_client(db) as client:
        emit_run(client.describe(flow_id, messages=messages), output)
