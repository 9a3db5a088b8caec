"""Carriers that make offers (flows/primitives/step_decision.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Quote:
    carrier: str
    price: int


def ask_carrier(ctx: Context) -> Quote:
    """A real one calls the carrier named like the step."""
    return Quote(ctx.step, 9)
