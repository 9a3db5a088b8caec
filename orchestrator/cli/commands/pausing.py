"""`orchestrator pause` and `orchestrator resume`: hold back what is begun of a flow type or a step."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, Format, Output

Target = Annotated[
    str, typer.Argument(metavar="FLOW[/STEP]", help="A flow type, or one of its steps.", show_default=False)
]


def pause(target: Target, db: Db = None, output: Output = Format.TEXT) -> None:
    """Begin nothing more of a flow type, or of one step, until it is resumed.

    What workers have taken is finished. Messages, RPCs and stops are accepted; nothing is lost and no attempt
    is consumed.
    """
    _write(target, True, db, output)


def resume(target: Target, db: Db = None, output: Output = Format.TEXT) -> None:
    """Let a paused flow type, or a paused step, go on."""
    _write(target, False, db, output)


def _write(target: str, is_pause: bool, db: str | None, output: Format) -> None:
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note
    from orchestrator.errors import UsageError

    flow, slash, step = target.partition("/")
    if not flow or (slash and not step):
        raise UsageError(f"`{target}` is not FLOW or FLOW/STEP")
    with open_client(db) as client:
        is_changed = (client.pause if is_pause else client.resume)(flow, step or None)
    state = "paused" if is_pause else "resumed" if is_changed else "not paused"
    note(f"{target} {'is' if is_changed else 'was'} {state}")
    result = {"flow": flow, "step": step or None, "paused": is_pause, "changed": is_changed}
    emit(result, output, lambda _: "")
