"""Handlers that scenarios call in child processes. They meet the test at pipes in the run's directory."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from orchestrator import Context, NonRetryable


def who() -> int:
    return os.getpid()


def marked() -> int:
    return os.getpid()


async def who_async() -> int:
    await asyncio.sleep(0)
    return os.getpid()


def meet(ctx: Context, place: str) -> int:
    """Tell the own process id, wait for a word; `die` and `exit` end the process."""
    return _meet(place)


def meet_once(ctx: Context, place: str) -> int:
    """The second attempt does not wait."""
    return _meet(place) if ctx.attempt == 1 else os.getpid()


def _meet(place: str) -> int:
    (Path(place) / "begun").write_text(str(os.getpid()))
    word = (Path(place) / "word").read_text()
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "exit":
        os._exit(0)
    if word == "fault":
        os.kill(os.getpid(), signal.SIGSEGV)
    return os.getpid()


def compute_for_ever(place: str) -> None:
    """Whoever reads the pipe to its end knows that this process is gone."""
    with (Path(place) / "begun").open("w") as begun:
        print(os.getpid(), file=begun, flush=True)
        while True:
            pass


def beat_then_meet(ctx: Context, place: str) -> Any:
    if ctx.attempt > 1:
        return ctx.last_heartbeat
    ctx.heartbeat({"done": 7})
    return _meet(place)


def until_cancelled(ctx: Context, place: str) -> None:
    (Path(place) / "begun").write_text(str(os.getpid()))
    while not ctx.cancelled:
        ctx.heartbeat(1)
    (Path(place) / "word").write_text("noticed")


def everything(ctx: Context, input: dict[str, Any]) -> dict[str, Any]:
    """Reads and does all that a context has."""
    ctx.attributes["total"] = ctx.attributes["total"] + 1
    ctx.attributes["progress"]["b"] = ctx.attributes["progress"]["a"] + 1
    ctx.publish("news", "from afar")
    ctx.record_event("counted", [1])
    ctx.cancel("Idle")
    return {
        "local": ctx.local["seen"],
        "message": ctx.wait.go.message,
        "size": ctx.channels["news"].size,
        "loaded": ctx.channels["old"].messages,
        "key": ctx.idempotency_key,
        "step": [ctx.flow, ctx.step, ctx.attempt, ctx.run_attempt, ctx.from_step_execution_id],
        "input": input,
        "started": str(ctx.started_at),
        "pid": os.getpid(),
    }


def prepare(ctx: Context) -> Any:
    from orchestrator import until

    ctx.local["seen"] = [os.getpid()]
    return until("go")


def wrong() -> int:
    return 7


def not_json() -> Any:
    return {"when": object()}


def not_allowed(ctx: Context) -> None:
    ctx.publish("news", "x")


class Odd(LookupError):
    pass


def raises(word: str) -> None:
    if word == "never":
        raise NonRetryable("no use")
    if word == "exit":
        sys.exit(3)
    raise Odd(f"not {word}")


def says(ctx: Context) -> None:
    ctx.logger.warning("%s is low", "oil", extra={"level_of_oil": 3})
    logging.getLogger("some.library").error("leak")
    logging.getLogger("some.library").debug("not asked for")
    print("printed", "text")
    print("half a line", end="")


def asks_client(ctx: Context) -> str:
    ctx.client.publish(ctx.flow_id, "news", "by client")
    return str(ctx.client.describe(ctx.flow_id)["status"])


def in_transaction(ctx: Context) -> None:
    raise AssertionError("it is refused")


RUN_IN_PROCESS = [marked]
