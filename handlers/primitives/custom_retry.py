"""A retry when the handler says (flows/primitives/custom_retry.flow.yaml)."""

from __future__ import annotations

from datetime import timedelta

from orchestrator import Context, RetryAfter

_SERVICE_PAUSE = timedelta(seconds=7)


def ask_service(ctx: Context, ready_at_attempt: int) -> str:
    if ctx.attempt < ready_at_attempt:
        raise RetryAfter(_SERVICE_PAUSE, f"not ready at attempt {ctx.attempt}")
    return "ready"
