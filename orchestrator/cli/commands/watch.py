"""`orchestrator watch`: a run as it goes on."""

from __future__ import annotations

from orchestrator.cli.options import Db, FlowId, Format, Output


def watch(flow_id: FlowId, db: Db = None, output: Output = Format.TEXT) -> int:
    """Follow a run until it is closed.

    Exit 0 COMPLETED, 1 closed otherwise.
    """
    from orchestrator.cli.following import follow
    from orchestrator.cli.output import emit_run, exit_code_of

    closed = follow(flow_id, db, output)
    if output is not Format.JSONL:
        emit_run(closed, output)
    return exit_code_of(closed)
