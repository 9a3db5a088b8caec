"""Mails of an engagement (flows/products/engagement.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def remind(ctx: Context) -> None:
    """A real one sends a mail to the job seeker."""
    ctx.logger.info("please answer the proposal %s", ctx.flow_id)


def notify(ctx: Context, text: str) -> None:
    """A real one sends a mail to both."""
    ctx.logger.info("%s: %s", ctx.flow_id, text)
