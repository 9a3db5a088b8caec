"""An unreliable service (flows/primitives/step_retry.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def call_service(ctx: Context, ready_at_attempt: int) -> str:
    if ctx.attempt < ready_at_attempt:
        raise ConnectionError(f"not ready at attempt {ctx.attempt}")
    return "ready"
