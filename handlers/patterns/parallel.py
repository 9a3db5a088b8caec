"""Messages to users (flows/patterns/parallel.flow.yaml, parallel_with_await.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def notify_user(ctx: Context, user: str) -> None:
    """The push service drops what comes twice with the same key."""
    ctx.logger.info("notifying %s, key %s", user, ctx.idempotency_key)


def send_text(ctx: Context, user: str) -> None:
    ctx.logger.info("text message to %s, key %s", user, ctx.idempotency_key)


def send_email(ctx: Context, user: str) -> None:
    ctx.logger.info("mail to %s, key %s", user, ctx.idempotency_key)
