"""Stock and payment, and how to undo them (flows/patterns/recovery.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Sale:
    item: str
    quantity: int


def reduce_quantity(ctx: Context, sale: Sale) -> None:
    ctx.logger.info("%d of %s taken from the stock", sale.quantity, sale.item)


def charge_for_items(ctx: Context, sale: Sale) -> None:
    """The payment provider of this example is down, and stays so."""
    raise ConnectionError(f"no answer from the payment provider, key {ctx.idempotency_key}")


def void_payment(ctx: Context, sale: Sale) -> None:
    """Must also do when there is no payment: a failed charge may have been made, or not."""
    ctx.logger.info("payment for %s is void", sale.item)


def increase_quantity(ctx: Context, sale: Sale) -> None:
    ctx.logger.info("%d of %s put back", sale.quantity, sale.item)
