"""Stored processes and the actions they are made of (flows/products/dataset_deal.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator import Context, NonRetryable

STORED: dict[str, dict[str, Any]] = {
    "sale": {
        "start": "review",
        "nodes": {
            "review": {
                "actions": ["notify_reviewer"],
                "post_condition": {
                    "condition": "review",
                    "cases": {"approved": "deliver"},
                    "otherwise": "decline",
                },
            },
            "deliver": {"pre_condition": "payment", "actions": ["export_dataset", "notify_buyer"]},
            "decline": {"actions": ["notify_buyer"]},
        },
    },
}
"""In the place of a database table that users edit."""


@dataclass(frozen=True)
class Position:
    node: str
    index: int


def load_process(name: str) -> dict[str, Any]:
    if name not in STORED:
        raise NonRetryable(f"there is no stored process {name}")
    return STORED[name]


def act(ctx: Context, position: Position) -> None:
    """A real one looks the action up in a table of functions."""
    action = ctx.attributes["process"]["nodes"][position.node]["actions"][position.index]
    ctx.record_event(action)
