"""Another system that is ready some day (flows/patterns/polling_*.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context

_ATTEMPT_WITH_DATA = 3


def is_ready() -> bool:
    """Asks the other system; that of this example is always ready."""
    return True


def read_external(ctx: Context) -> str:
    """Reads from the other system; that of this example has data at the third attempt."""
    if ctx.attempt < _ATTEMPT_WITH_DATA:
        raise LookupError("the other system has no data yet")
    return "External data result"
