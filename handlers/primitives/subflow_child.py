"""The work of a child flow (flows/primitives/subflow_child.flow.yaml)."""

from __future__ import annotations


def add_one(number: int) -> int:
    return number + 1
