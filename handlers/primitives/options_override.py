"""A wait that always fails (flows/primitives/options_override.flow.yaml)."""

from __future__ import annotations


def find_what_to_wait_for() -> object:
    raise LookupError("nothing to wait for")
