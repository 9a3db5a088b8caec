"""`orchestrator time-travel`: a run goes on from an earlier point."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output


def time_travel(
    flow_id: FlowId,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="POINT",
            help="`beginning`; a time (RFC 3339); STEP, its first one; STEP-N/wait_for; STEP-N/execute.",
            show_default=False,
        ),
    ],
    skip_reapply: Annotated[
        bool,
        typer.Option(
            "--skip-reapply", help="Do not do again what clients did after that point (messages, RPCs, …)."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Let a run, closed or not, go on from an earlier point as its next run attempt.

    What was saved before the point stays; what came later is left behind in history and done anew. Handlers
    are called again: what they did outside is not undone.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.points import parse_point
    from orchestrator.cli.questions import confirm
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note

    target = parse_point(to)
    with open_client(db) as client:
        client.describe(flow_id)
        confirm(f"Send {flow_id} back to {to}? What came later will be done anew.", yes)
        travelled = client.time_travel(flow_id, target, reapply=not skip_reapply)
    point = f"what it was after commit {travelled.forked_at}"
    note(f"{flow_id} goes on from {point}, as attempt {travelled.run_attempt}")
    result = {
        "flow_id": travelled.flow_id,
        "run_id": travelled.run_id,
        "run_attempt": travelled.run_attempt,
        "forked_at": travelled.forked_at,
    }
    emit(result, output, lambda _: "")
