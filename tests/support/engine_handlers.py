"""Handlers of the engine's scenarios."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

from orchestrator import Context, NonRetryable
from orchestrator.binding.mistakes import NotLoaded
from tests.support.engine_kit import Gate

gates: dict[str, Gate] = {}
calls: Counter[str] = Counter()
begun: list[str] = []
"""Step executions in the order in which their handlers were called."""
_lock = threading.Lock()
seen_cancelled: list[bool] = []
has_seen = threading.Event()
"""A gated handler is past its gate: one whose run was stopped is not waited for by its worker."""


at_once = [0]
"""How many calls of `overlap` were running, after each that began or ended."""


def reset() -> None:
    at_once[:] = [0]
    gates.clear()
    calls.clear()
    begun.clear()
    seen_cancelled.clear()
    has_seen.clear()


def note(ctx: Context) -> int:
    """Counts its calls by step execution."""
    with _lock:
        begun.append(ctx.step_execution_id)
        calls[ctx.step_execution_id] += 1
        return calls[ctx.step_execution_id]


def gated(ctx: Context) -> int:
    count = note(ctx)
    gates[ctx.step].pass_through()
    seen_cancelled.append(ctx.cancelled)
    has_seen.set()
    return count


async def gated_async(ctx: Context) -> int:
    count = note(ctx)
    await asyncio.get_running_loop().run_in_executor(None, gates[ctx.step].pass_through)
    return count


async def never(ctx: Context) -> None:
    note(ctx)
    await asyncio.Event().wait()


def double(number: int) -> int:
    return 2 * number


def fail_twice(ctx: Context) -> str:
    if note(ctx) < 3:
        raise ValueError("not yet")
    return "third time"


def overlap(ctx: Context) -> None:
    """Notes how many of these run at once."""
    with _lock:
        at_once.append(at_once[-1] + 1)
    note(ctx)
    with _lock:
        at_once.append(at_once[-1] - 1)


def fail_first(ctx: Context) -> int:
    note(ctx)
    if ctx.attempt == 1:
        raise ValueError("not yet")
    return ctx.attempt


def fail_for_good(ctx: Context) -> None:
    note(ctx)
    raise NonRetryable("never")


def attempt_of(ctx: Context) -> int:
    note(ctx)
    return ctx.attempt


def read_box(ctx: Context) -> list[int]:
    return [int(message) for message in ctx.channels["box"].messages]


def start_child(ctx: Context, flow_id: str) -> Any:
    return ctx.client.start("Child", flow_id).run_id


def read_rooms(ctx: Context) -> list[Any]:
    def guests(room: str) -> Any:
        try:
            return ctx.channels["rooms"][room].messages
        except NotLoaded:
            return "not loaded"

    return [guests("blue"), guests("green"), guests("red")]
