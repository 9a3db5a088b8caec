"""Mail and charges of a subscription (flows/products/subscription.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context, Wait, until


@dataclass(frozen=True)
class Plan:
    customer: str
    amount: int
    period_count: int
    trial: str
    period: str


def welcome_customer(ctx: Context, plan: Plan) -> Wait:
    ctx.logger.info("welcome mail to %s", plan.customer)
    return until("trial")


def charge(ctx: Context, plan: Plan) -> None:
    """The amount of the moment; the payment provider charges once for each key."""
    ctx.logger.info("charging %s %d, key %s", plan.customer, ctx.attributes["amount"], ctx.idempotency_key)
