"""`orchestrator history`: what happened in a run."""

from __future__ import annotations

from orchestrator.cli.options import Db, FlowId, Format, Output


def history(flow_id: FlowId, db: Db = None, output: Output = Format.TEXT) -> None:
    """Show what happened in a run, commit by commit."""
    from orchestrator.cli.commits import history_as_text
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client

    with open_client(db) as client:
        emit(client.history(flow_id), output, history_as_text)
