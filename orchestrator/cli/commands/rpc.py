"""`orchestrator rpc`: call an RPC of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Flows, Format, Output


def rpc(
    flow_id: FlowId,
    name: Annotated[str, typer.Argument(metavar="NAME", help="An RPC of the flow.", show_default=False)],
    value: Annotated[
        str | None,
        typer.Argument(metavar="[INPUT]", help="JSON, @file or - (stdin); default null.", show_default=False),
    ] = None,
    request_id: Annotated[
        str | None,
        typer.Option(
            "--request-id", metavar="TEXT", help="A repeat is not executed again.", show_default=False
        ),
    ] = None,
    flows: Flows = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Call an RPC of a run and print its output.

    Its handler runs in this process; no worker is needed.
    """
    from orchestrator.cli.logs import handlers_speak_on_stderr
    from orchestrator.cli.output import emit, one_line
    from orchestrator.cli.session import open_client
    from orchestrator.cli.values import parse_value

    given = parse_value(value, "INPUT")
    with open_client(db, flows=flows) as client, handlers_speak_on_stderr():
        answer = client.rpc(flow_id, name, given, request_id=request_id)
    emit(answer, output, one_line)
