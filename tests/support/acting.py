"""Handlers whose doings a test sets: `act` for Execute, `plan` for WaitFor, `answer` for RPCs."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from orchestrator import Context, skip
from orchestrator.core.events import HandlerWait
from orchestrator.definition.model import Flow
from tests.support.engine_kit import flow_of

Doing: TypeAlias = Callable[[Context, Any], Any]

doings: dict[str, Doing] = {}
"""By step, by `step/wait_for`, or by RPC."""
calls: list[str] = []
"""Ids of the executions whose handlers were called, in order; `/wait_for` is appended for those."""
_lock = threading.Lock()


def reset() -> None:
    doings.clear()
    calls.clear()


def acted(text: str) -> Flow:
    """A flow whose handlers are these."""
    return flow_of("handlers: tests.support.acting\n" + textwrap.dedent(text))


def call_count(name: str) -> int:
    with _lock:
        return calls.count(name)


def act(ctx: Context, input: Any = None) -> Any:
    """Does what the test says for the step; nothing, where it says nothing."""
    return _do(ctx, ctx.step, ctx.step_execution_id, input)


def plan(ctx: Context, input: Any = None) -> HandlerWait:
    wait: HandlerWait | None = _do(ctx, f"{ctx.step}/wait_for", f"{ctx.step_execution_id}/wait_for", input)
    return skip() if wait is None else wait


def answer(ctx: Context, input: Any = None) -> Any:
    name = ctx.step.removeprefix("__rpc/")
    return _do(ctx, name, name, input)


def _do(ctx: Context, name: str, called: str, input: Any) -> Any:
    with _lock:
        calls.append(called)
    doing = doings.get(name)
    return doing(ctx, input) if doing is not None else None
