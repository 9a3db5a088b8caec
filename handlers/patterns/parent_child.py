"""Child runs started through the client (flows/patterns/parent_child.flow.yaml)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from orchestrator import AlreadyStarted, Context


@dataclass(frozen=True)
class Watch:
    child: str
    seconds: int


def start_child(ctx: Context, task: int) -> str:
    child = f"child-wf-{task}"
    with suppress(AlreadyStarted):
        ctx.client.start("ChildTask", child, task)
    return child


def is_child_closed(ctx: Context, watch: Watch) -> bool:
    """Asks and does not wait, so that no worker is held."""
    return bool(ctx.client.describe(watch.child)["status"] != "RUNNING")
