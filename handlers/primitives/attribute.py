"""Writes under locks (flows/primitives/attribute.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context, Wait, skip


def authorize_payment(ctx: Context, order: str) -> Wait:
    """A real one asks the bank to put the money aside. There is nothing to wait for afterwards."""
    ctx.logger.info("the payment of order %s is authorized", order)
    return skip()


def capture_payment(ctx: Context, order: str) -> None:
    """A real one asks the bank for the money, with the idempotency key."""
    ctx.logger.info("order %s is paid: %s", order, ctx.idempotency_key)
