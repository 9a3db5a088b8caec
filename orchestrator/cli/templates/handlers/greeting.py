"""Handlers of flows/greeting.flow.yaml."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context

GREETINGS = {"en": "Hello", "fr": "Bonjour"}


@dataclass(frozen=True)
class Guest:
    name: str
    language: str


def write_greeting(guest: Guest) -> str:
    return f"{GREETINGS[guest.language]} {guest.name}!"


def send_greeting(ctx: Context, greeting: str) -> None:
    """A step may run again after a crash: give the idempotency key to whatever must happen once."""
    ctx.logger.info("sending %r, key %s", greeting, ctx.idempotency_key)
