"""`orchestrator run`: start or resume a run and work on it until it is closed."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Attributes, Concurrency, Db, Flows, Format, Input, Output


def run(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="The flow, a *.flow.yaml file.", show_default=False)
    ] = None,
    flow_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Flow id of the new run.", show_default=False)
    ] = None,
    value: Input = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ID", help="Go on with this run.", show_default=False)
    ] = None,
    attributes: Attributes = None,
    until_blocked: Annotated[
        bool, typer.Option("--until-blocked", help="End also when only a client's message could help.")
    ] = False,
    concurrency: Concurrency = 8,
    flows: Flows = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> int:
    """Start or resume a run and work until it is closed.

    Exit 0 COMPLETED, 1 closed otherwise, 3 when nothing here can move it. Ctrl-C leaves it to be resumed.
    When a pause, or a queue with concurrency 0, holds it back, it says which command ends that, and waits.
    """
    from orchestrator.cli.output import emit_run, exit_code_of
    from orchestrator.cli.working import NewRun, work_on

    check_words(path, flow_id, value, attributes, resume)
    run = work_on(
        resume or flow_id or "",
        NewRun(path, value, attributes) if path is not None else None,
        db=db,
        flows=flows,
        concurrency=concurrency,
        until_blocked=until_blocked,
    )
    emit_run(run, output)
    return exit_code_of(run)


def check_words(
    path: str | None, flow_id: str | None, value: str | None, attributes: list[str] | None, resume: str | None
) -> None:
    """Either a path and an id, or `--resume` alone."""
    from orchestrator.errors import UsageError

    if resume is not None:
        if path is not None or flow_id is not None or value is not None or attributes:
            raise UsageError(
                "--resume goes on with a run as it is: give neither PATH nor --id, --input, --attribute"
            )
    elif path is None:
        raise UsageError(
            "name a flow and a flow id: orchestrator run PATH --id ID; or go on: run --resume ID"
        )
    elif flow_id is None:
        raise UsageError("give the run a flow id of your choice: --id ID")
