"""`orchestrator skip-timer`, `retry-now`, `config`: steer what a run does next."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Flows, Format, Output

StepExecution = Annotated[
    str, typer.Argument(metavar="STEP_EXECUTION", help="Such as Charge-2.", show_default=False)
]


def skip_timer(
    flow_id: FlowId,
    step_execution: Annotated[
        str | None,
        typer.Argument(metavar="[STEP_EXECUTION]", help="Such as Charge-2.", show_default=False),
    ] = None,
    condition: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONDITION]",
            help="Id of the timer, or its position among the wait's timers from 0; default: the only one.",
            show_default=False,
        ),
    ] = None,
    deadline: Annotated[bool, typer.Option("--deadline", help="The run's timeout instead.")] = False,
    flows: Flows = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Let a timer of a wait fire now, or with --deadline the run's timeout.

    A timer that does not exist yet fires as soon as it does.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note
    from orchestrator.errors import UsageError

    if deadline == (step_execution is not None):
        raise UsageError("name a step execution, such as Charge-2, or give --deadline")
    selector = int(condition) if condition is not None and condition.isdigit() else condition
    with open_client(db, flows=flows) as client:
        if step_execution is None:
            client.skip_deadline(flow_id)
        else:
            client.skip_timer(flow_id, step_execution, selector)
    what = "the deadline" if step_execution is None else f"a timer of {step_execution}"
    note(f"skipped {what} of {flow_id}")
    skipped = {"flow_id": flow_id, "step_execution_id": step_execution, "condition": selector}
    emit(skipped, output, lambda _: "")


def retry_now(
    flow_id: FlowId,
    step_execution: StepExecution,
    flows: Flows = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Let a step that backs off be tried again now."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note

    with open_client(db, flows=flows) as client:
        client.retry_now(flow_id, step_execution)
    note(f"{step_execution} of {flow_id} is due now")
    emit({"flow_id": flow_id, "step_execution_id": step_execution}, output, lambda _: "")


def config(
    flow_id: FlowId,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=VALUE]...", help="Keys to change, such as durability=async.", show_default=False
        ),
    ] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Show the run-time configuration of a run, or change some of it for what begins later."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client

    changed = _read_words(values or [])
    with open_client(db) as client:
        if changed:
            client.update_config(flow_id, changed)
        configured = client.describe(flow_id)["config"]
    emit(configured, output, lambda told: "\n".join(f"{name}={value}" for name, value in told.items()))


def _read_words(values: list[str]) -> dict[str, str]:
    """`name=word`; words need no quotes, unlike JSON."""
    from orchestrator.errors import UsageError

    words: dict[str, str] = {}
    for text in values:
        name, equals, word = text.partition("=")
        if not equals or not name:
            raise UsageError(f"`{text}` is not of the form NAME=VALUE")
        words[name] = word.strip('"')
    return words
