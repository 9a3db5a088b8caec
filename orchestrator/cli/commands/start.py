"""`orchestrator start`: start a run and leave the work to workers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from orchestrator.cli.options import Attributes, Db, Flows, Format, Input, NewFlowId, Output


class Reuse(StrEnum):
    DISALLOW = "disallow"
    ALLOW_IF_NO_RUNNING = "allow_if_no_running"
    ALLOW_IF_PREVIOUS_EXITS_ABNORMALLY = "allow_if_previous_exits_abnormally"
    ALLOW_TERMINATE_IF_RUNNING = "allow_terminate_if_running"


class Timeout(StrEnum):
    FAIL = "fail"
    CANCEL = "cancel"
    HANDLER = "handler"


def start(
    flow: Annotated[str, typer.Argument(metavar="FLOW", help="A *.flow.yaml, or a flow type of --flows.")],
    flow_id: NewFlowId,
    value: Input = None,
    attributes: Attributes = None,
    reuse_policy: Annotated[
        Reuse, typer.Option("--reuse-policy", help="What to do when the flow id has a run.")
    ] = Reuse.DISALLOW,
    request_id: Annotated[
        str | None, typer.Option("--request-id", metavar="TEXT", help="Marks repeats of one request.")
    ] = None,
    return_existing: Annotated[
        bool, typer.Option("--return-existing", help="A repeat of the request gives the run that it made.")
    ] = False,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="DURATION", help="Replaces the duration of the flow's timeout."),
    ] = None,
    timeout_policy: Annotated[
        Timeout | None, typer.Option("--timeout-policy", help="What happens then; default: as the flow says.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="DURATION", help="Pause before the first step.")
    ] = None,
    flows: Flows = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Start a run; workers do the rest."""
    from orchestrator.cli.options import parse_span
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import find_flow, open_client
    from orchestrator.cli.values import parse_assignments, parse_value

    definition = find_flow(flow, flows)
    options: dict[str, Any] = {
        "reuse_policy": reuse_policy.value,
        "request_id": request_id,
        "return_existing": return_existing,
        "timeout": parse_span(timeout, "--timeout"),
        "timeout_policy": timeout_policy.value if timeout_policy is not None else None,
        "delay": parse_span(delay, "--delay"),
        "attributes": parse_assignments(attributes, "--attribute"),
    }
    given = parse_value(value, "--input")
    with open_client(db, flows=flows, may_create=True) as client:
        made = client.start(definition, flow_id, given, **options)
    emit({"flow_id": made.flow_id, "run_id": made.run_id, "created": made.is_new}, output, _as_text)


def _as_text(made: dict[str, Any]) -> str:
    return f"{made['flow_id']} {'started' if made['created'] else 'exists already'}"
