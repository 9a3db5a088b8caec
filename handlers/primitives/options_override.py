"""A wait that always fails (flows/primitives/options_override.flow.yaml)."""

from __future__ import annotations

from orchestrator import Wait


def find_what_to_wait_for() -> Wait:
    raise LookupError("nothing to wait for")
