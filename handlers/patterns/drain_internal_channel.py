"""Writes records into a database (flows/patterns/drain_internal_channel.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def upsert_record(ctx: Context) -> None:
    """A real one replaces the record of this run, so that doing it twice is doing it once."""
    ctx.logger.info("upsert %s: %s", ctx.flow_id, ctx.wait.records.message)
