"""A partner that cannot be reached (flows/primitives/proceed_on_wait_failure.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context, Wait, until


def ask_partner(ctx: Context, question: str) -> Wait:
    _send(f"{question} (please reply to {ctx.flow_id})")
    return until("reply")


def _send(message: str) -> None:
    """A real one calls the partner; this one never gets through."""
    raise ConnectionError(f"nobody takes the message: {message}")
