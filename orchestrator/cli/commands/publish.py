"""`orchestrator publish`: send a message to a run."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output


def publish(
    flow_id: FlowId,
    channel: Annotated[
        str, typer.Argument(metavar="CHANNEL", help="An `external: true` channel of the flow.")
    ],
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="The message: JSON, @file or - (stdin); default null."),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="Instance of a channel map.")] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Publish a message to a channel of a run."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note
    from orchestrator.cli.values import parse_value

    message = parse_value(value, "VALUE")
    with open_client(db) as client:
        client.publish(flow_id, channel, message, key)
    note(f"published to {channel} of {flow_id}")
    emit({"flow_id": flow_id, "channel": channel, "key": key}, output, lambda _: "")
