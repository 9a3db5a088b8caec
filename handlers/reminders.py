"""Reminders in a loop (flows/reminders.flow.yaml)."""

from __future__ import annotations

from typing import TypedDict

from orchestrator import Context


class Appointment(TypedDict):
    address: str
    pause: str
    limit: int


def send_reminder(ctx: Context, appointment: Appointment) -> None:
    number = ctx.attributes["sent_count"] + 1
    ctx.logger.info("reminder %d of %d to %s", number, appointment["limit"], appointment["address"])
