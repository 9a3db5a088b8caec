"""A minimal handler (flows/primitives/flow.flow.yaml)."""

from __future__ import annotations


def process(number: int) -> int:
    return number + 1
