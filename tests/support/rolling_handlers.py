"""Handlers that write down when they begin and end, for scenarios in which workers are replaced."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator import Context

LOG = "ORCHESTRATOR_TEST_LOG"
"""Names the file that is written to; beside it may lie a pipe named `hold`, which makes `hold` wait."""


def _note(what: str, ctx: Context) -> None:
    line = f"{what} {ctx.flow_id} {ctx.step_execution_id} {ctx.attempt} {os.getpid()}\n"
    file = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def work(ctx: Context) -> None:
    _note("begin", ctx)
    _note("end", ctx)


def hold(ctx: Context) -> None:
    _note("begin", ctx)
    directory = Path(os.environ[LOG]).parent
    with (directory / "begun").open("w") as begun:
        begun.write(f"{os.getpid()}\n")
    with (directory / "hold").open() as pipe:
        pipe.read()
    _note("end", ctx)
