"""Handlers of the scenarios about RPCs, transactional steps and heartbeats."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from sqlalchemy import text

from orchestrator import Context, LockConflict, NotFound, Rejected
from tests.support.engine_kit import Gate

gates: dict[str, Gate] = {}
seen: list[Any] = []
beats = threading.Event()
noticed = threading.Event()


def reset() -> None:
    gates.clear()
    seen.clear()
    beats.clear()
    noticed.clear()


# --- RPCs ---


def add(ctx: Context, amount: int) -> int:
    """Reads, waits where a test wants it to, and writes what it makes of what it read."""
    total = int(ctx.attributes["total"])
    if "add" in gates:
        gates["add"].pass_through()
    ctx.attributes["total"] = total + amount
    return total + amount


async def add_async(ctx: Context, amount: int) -> int:
    await asyncio.sleep(0)
    return add(ctx, amount)


def refuse() -> None:
    raise Rejected("not today")


def fail(ctx: Context) -> None:
    ctx.attributes["total"] = 99
    raise LookupError("no such account")


def quit_at_once() -> None:
    raise SystemExit(3)


def never_ends(ctx: Context) -> None:
    ctx.attributes["total"] = 99
    while not ctx.cancelled:
        threading.Event().wait(0.001)
    seen.append("noticed")


def call_another(ctx: Context, flow_id: str) -> Any:
    return ctx.client.rpc(flow_id, "add", 1)


async def call_another_async(ctx: Context, flow_id: str) -> Any:
    try:
        await ctx.client.aio.rpc(f"not-{flow_id}", "add", 1)
    except NotFound:
        return await ctx.client.aio.rpc(flow_id, "add", 1)


def beat_in_vain(ctx: Context) -> None:
    ctx.heartbeat(1)


def publish_from_inside(ctx: Context) -> None:
    ctx.client.publish(ctx.flow_id, "never", "x")


async def publish_from_inside_async(ctx: Context) -> None:
    await ctx.client.aio.publish(ctx.flow_id, "never", "x")


def wait_inside(ctx: Context) -> None:
    ctx.client.wait(ctx.flow_id)


async def wait_inside_async(ctx: Context) -> None:
    await ctx.client.aio.wait(ctx.flow_id)


# --- Transactional handlers ---


def book(ctx: Context, what: str) -> str:
    ctx.connection.execute(text("INSERT INTO bookings (what) VALUES (:what)"), {"what": what})
    seen.append(ctx.attempt)
    if what == "raises":
        raise LookupError(what)
    if what == "flaky" and ctx.attempt == 1:
        raise LookupError(what)
    if what == "breaks":
        is_sqlite = ctx.connection.dialect.name == "sqlite"
        breaking = "INSERT OR ROLLBACK INTO bookings (id) VALUES (1), (1)" if is_sqlite else "/**/ ROLLBACK"
        ctx.connection.exec_driver_sql(breaking)
    if what == "slow":
        threading.Event().wait(5)
    return what


def book_wrongly(ctx: Context, what: str) -> int:
    book(ctx, what)
    return 7


async def book_async(ctx: Context, what: str) -> str:
    await asyncio.sleep(0)
    return book(ctx, what)


def needs_connection(ctx: Context) -> Any:
    return ctx.connection


# --- Heartbeats ---


def crunch(ctx: Context, batch_count: int) -> list[int]:
    """Goes on where the last attempt was; fails in the middle of the first."""
    first = ctx.last_heartbeat if ctx.has_heartbeat else 0
    for number in range(first, batch_count):
        ctx.heartbeat(number)
        if ctx.attempt == 1 and number == 3:
            raise LookupError("half way")
    return [first, batch_count]


def say_null(ctx: Context) -> list[Any]:
    seen.append((ctx.has_heartbeat, ctx.last_heartbeat))
    if ctx.attempt == 1:
        ctx.heartbeat(None)
        raise LookupError("again")
    return []


def falls_silent(ctx: Context) -> str:
    if ctx.attempt > 1:
        return f"from {ctx.last_heartbeat}"
    ctx.heartbeat("alive")
    gates["silent"].pass_through()
    return "too late"


async def falls_silent_async(ctx: Context) -> str:
    if ctx.attempt > 1:
        return f"from {ctx.last_heartbeat}"
    ctx.heartbeat("alive")
    beats.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
    return "too late"


def beats_until_cancelled(ctx: Context) -> None:
    while not ctx.cancelled:
        ctx.heartbeat(1)
        beats.set()
        threading.Event().wait(0.005)
    seen.append("cancelled")
    noticed.set()


def lock_and_call(ctx: Context) -> str:
    """A step that holds a lock calls an RPC that wants it."""
    try:
        ctx.client.rpc(ctx.flow_id, "add_locked", 1)
    except LockConflict as conflict:
        return str(conflict.data["holder"])
    return "no conflict"
