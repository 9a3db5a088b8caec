"""A long handler that reports where it is (flows/primitives/heartbeat.flow.yaml)."""

from __future__ import annotations

from orchestrator import Choice, Context, choose


def process_batches(ctx: Context, batch_count: int) -> Choice:
    """Go on after the last batch that an earlier attempt reported."""
    for number in range(ctx.last_heartbeat or 0, batch_count):
        if ctx.cancelled:
            return choose("cancelled")
        _process_batch(ctx, number)
        ctx.heartbeat(number + 1)
    return choose("processed")


def _process_batch(ctx: Context, number: int) -> None:
    """A real one takes its time; batches are idempotent, the last one may be repeated."""
    ctx.logger.info("batch %d", number)
