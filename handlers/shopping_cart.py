"""A discount that looks at the whole cart (flows/shopping_cart.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context

_PIECES_FOR_DISCOUNT = 12
_DISCOUNT = 0.1


def grant_discount(ctx: Context) -> None:
    """Ten percent off for a dozen pieces or more of one article."""
    if any(quantity >= _PIECES_FOR_DISCOUNT for quantity in ctx.attributes["quantities"].values()):
        ctx.attributes["discount"] = ctx.attributes["total"] * _DISCOUNT
