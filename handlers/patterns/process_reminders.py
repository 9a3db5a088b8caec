"""Reminds the user of a process (flows/patterns/process_reminders.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def send_reminder(ctx: Context) -> None:
    ctx.logger.info("reminder %s", ctx.idempotency_key)
