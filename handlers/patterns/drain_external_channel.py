"""Handles one message (flows/patterns/drain_external_channel.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def handle_message(ctx: Context, message: str | None) -> str:
    """The message of the input, else the one that the wait took."""
    handled: str = ctx.wait.queue.message if message is None else message
    ctx.logger.info("handling %s", handled)
    return handled
