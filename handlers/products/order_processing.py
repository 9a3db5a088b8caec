"""Payment, mail and shipment of orders (flows/products/order_processing.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Order:
    id: str
    amount: float


def charge(ctx: Context, order: Order) -> None:
    """The payment provider charges once for each key."""
    ctx.logger.info("charging %.2f, key %s", order.amount, ctx.idempotency_key)


def remind_seller(ctx: Context, order: Order) -> None:
    ctx.logger.info("mail to the seller: order %s waits for you", order.id)


def ship(ctx: Context, order: Order) -> None:
    ctx.logger.info("order %s leaves, key %s", order.id, ctx.idempotency_key)


def refund(ctx: Context, order: Order) -> None:
    ctx.logger.info("%.2f go back, key %s", order.amount, ctx.idempotency_key)
