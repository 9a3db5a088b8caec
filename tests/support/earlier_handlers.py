"""Handlers of the runs that an earlier release left behind (earlier_runs.py)."""

from __future__ import annotations

from orchestrator import Context


def hesitate(ctx: Context, number: int) -> int:
    """The first attempt of an odd number fails."""
    ctx.heartbeat({"at": number})
    if number % 2 and ctx.attempt == 1:
        raise ConnectionError(f"{number} is away")
    ctx.record_event("done", number)
    return 2 * number


def fail(ctx: Context) -> None:
    raise ValueError("never")


def keep(ctx: Context) -> int:
    if ctx.attempt == 1:
        raise ConnectionError("not yet")
    return ctx.attempt
