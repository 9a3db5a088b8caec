"""`orchestrator stop`: cancel, fail or terminate a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output


class StopType(StrEnum):
    CANCEL = "cancel"
    FAIL = "fail"
    TERMINATE = "terminate"


def stop(
    flow_id: FlowId,
    stop_type: Annotated[StopType, typer.Option("--type", help="How the run ends.")] = StopType.CANCEL,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; kept with the run.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before terminating.")] = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Stop a run."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.questions import confirm
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note

    if stop_type is StopType.TERMINATE:
        confirm(f"Terminate {flow_id} at once?", yes)
    with open_client(db) as client:
        client.stop(flow_id, stop_type.value, reason)
    note(f"asked {flow_id} to stop ({stop_type.value})")
    emit({"flow_id": flow_id, "type": stop_type.value}, output, lambda _: "")
