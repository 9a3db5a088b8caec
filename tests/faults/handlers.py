"""Handlers under faults. Each call leaves a line outside the database, whatever becomes of it."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from sqlalchemy import text

from orchestrator import Context

CALLS = "ORCHESTRATOR_TEST_CALLS"
"""The directory with a file of each process."""
_WORK_SECONDS = 0.003
_SLOW_SECONDS = 0.2
_WRONG_TIMES = 2
_file: dict[int, int] = {}


def _note(ctx: Context) -> None:
    pid = os.getpid()
    if pid not in _file:
        path = os.path.join(os.environ[CALLS], f"{pid}.calls")
        _file[pid] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(_file[pid], f"{ctx.flow_id} {ctx.step_execution_id} {ctx.attempt}\n".encode())


def same(ctx: Context, number: int) -> int:
    _note(ctx)
    time.sleep(_WORK_SECONDS)
    return number


async def same_async(ctx: Context, number: int) -> int:
    _note(ctx)
    await asyncio.sleep(_WORK_SECONDS)
    return number


def add_under_lock(ctx: Context, number: int) -> None:
    _note(ctx)
    total: Any = ctx.attributes["total"]
    time.sleep(_WORK_SECONDS)
    ctx.attributes["total"] = total + number


def look(ctx: Context) -> None:
    _note(ctx)


def slow(ctx: Context) -> None:
    _note(ctx)
    time.sleep(_SLOW_SECONDS)


def fail_twice(ctx: Context) -> None:
    _note(ctx)
    if ctx.attempt <= _WRONG_TIMES:
        raise ValueError("not yet")


def fail(ctx: Context) -> None:
    _note(ctx)
    raise ValueError("never")


def pay(ctx: Context, number: int) -> int:
    _note(ctx)
    row = {"flow_id": ctx.flow_id, "execution_id": ctx.step_execution_id}
    ctx.connection.execute(text("INSERT INTO effects VALUES (:flow_id, :execution_id)"), row)
    return number
