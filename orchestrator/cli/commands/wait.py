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
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="STEP",
            help="Until this execution has ended: Charge-2, or a step for its first one.",
            show_default=False,
        ),
    ] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> int:
    """Wait until a run is closed, or with --step until one of its steps has ended.

    Exit 0 COMPLETED or the step has ended, 1 closed otherwise, 3 timed out, 4 closed without the step.
    """
    from orchestrator.cli.options import parse_span
    from orchestrator.cli.output import emit, emit_run, exit_code_of
    from orchestrator.cli.session import open_client

    limit = parse_span(timeout, "--timeout")
    with open_client(db) as client:
        if step is not None:
            name, number = split_execution(step)
            client.wait_for_step(flow_id, name, number, timeout=limit)
            ended = {"flow_id": flow_id, "step_execution_id": f"{name}-{number}"}
            emit(ended, output, lambda told: f"{told['step_execution_id']} has ended")
            return 0
        closed = client.wait(flow_id, timeout=limit)
        emit_run(closed, output)
    return exit_code_of(closed)


def split_execution(text: str) -> tuple[str, int]:
    """`Charge-2`, or `Charge` for the first one."""
    step, dash, number = text.rpartition("-")
    return (step, int(number)) if dash and number.isdigit() else (text, 1)
