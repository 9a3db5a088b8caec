"""A payment with retries and recovery (flows/order_payment.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from orchestrator import Context, NonRetryable, RetryAfter

_PROVIDER_PAUSE = timedelta(milliseconds=200)


@dataclass(frozen=True)
class Order:
    number: str
    card: str
    amount: float
    busy_attempt_count: int


@dataclass(frozen=True)
class PaidOrder:
    order: Order
    receipt: str


def reserve_goods(ctx: Context, order: Order) -> None:
    ctx.logger.info("goods of order %s are reserved", order.number)


def charge_card(ctx: Context, order: Order) -> str:
    """The idempotency key is the same in every attempt, so the provider charges once."""
    if order.card.startswith("0000"):
        raise NonRetryable(f"the card of order {order.number} was refused")
    if ctx.attempt <= order.busy_attempt_count:
        raise RetryAfter(_PROVIDER_PAUSE, "the payment provider is busy")
    return f"receipt for {ctx.idempotency_key}"


def ship(paid: PaidOrder) -> str:
    return f"P-{paid.order.number}"


def release_goods(ctx: Context, order: Order) -> None:
    reason = ctx.failure.message if ctx.failure is not None else "unknown"
    ctx.logger.info("goods of order %s are released: %s", order.number, reason)
