"""Work that may be stored fast or safely (flows/primitives/durability.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def write_record(ctx: Context, mode: str) -> None:
    """A real one writes by the idempotency key: after a crash it may run again."""
    ctx.logger.info("record %s, mode %s", ctx.idempotency_key, mode)
