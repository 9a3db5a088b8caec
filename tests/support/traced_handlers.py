"""Handlers of the scenarios about traces: they say which span they run in."""

from __future__ import annotations

from opentelemetry import trace

from orchestrator import Context

spans: dict[str, int] = {}


def look(ctx: Context) -> None:
    spans[ctx.step_execution_id] = trace.get_current_span().get_span_context().span_id


async def look_async(ctx: Context) -> None:
    spans[ctx.step_execution_id] = trace.get_current_span().get_span_context().span_id


def tell(ctx: Context) -> str:
    return f"{trace.get_current_span().get_span_context().span_id:x}"


async def tell_async(ctx: Context) -> str:
    return f"{trace.get_current_span().get_span_context().span_id:x}"


def raise_once(ctx: Context) -> None:
    if ctx.attempt == 1:
        raise ValueError("secret-17")


def store(ctx: Context, value: int) -> int:
    ctx.attributes["total"] = value
    return value
