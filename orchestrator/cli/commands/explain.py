"""`orchestrator explain`: why a run is where it is."""

from __future__ import annotations

from orchestrator.cli.options import Db, FlowId, Format, Output


def explain(flow_id: FlowId, db: Db = None, output: Output = Format.TEXT) -> None:
    """Say why a run is where it is: what each active step waits for, who could send it, or why nobody can."""
    import sys

    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import bare_all, painter
    from orchestrator.engine.explain.text import explanation_as_text

    with open_client(db) as client:
        explanation = client.explain(flow_id)
    emit(explanation, output, lambda told: explanation_as_text(bare_all(told), painter(sys.stdout)))
