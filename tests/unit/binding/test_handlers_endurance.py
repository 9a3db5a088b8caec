"""Handlers that would not notice a cancel, or give no heartbeat."""

from __future__ import annotations

import pytest

from tests.support.surveyed import Workshop, codes, one

FLOW = """\
flow: Shop
handlers: surveyed_shop
start: Begin
steps:
  Begin: {go_to_many: [Pay, Stop]}
  Pay: {execute: EXECUTE, dead_end: true}
  Stop: {wait_for: {until: {timer: 1h}}, cancel: [Pay], graceful_complete: done}
"""
UNCANCELLED = FLOW.replace("cancel: [Pay], ", "")


def look(
    workshop: Workshop, flow: str, *lines: str, execute: str = "pay", start: str = "def pay(ctx):"
) -> list[str]:
    text = "\n".join(["import asyncio, time", start, *(f"    {line}" for line in lines), ""])
    return codes(workshop.check(text, flow.replace("EXECUTE", execute)))


STUBBORN = ("while True:", "    try:", "        return len('x')", "    except Exception:", "        pass")
SLEEPING = ("for number in range(1000):", "    time.sleep(1)")


@pytest.mark.parametrize(
    "lines", [STUBBORN, (*STUBBORN[:4], "        continue"), (*STUBBORN[:3], "    except:", "        pass")]
)
@pytest.mark.parametrize("flow", [FLOW, UNCANCELLED])
def test_a_loop_that_takes_every_exception_for_nothing_is_told(
    workshop: Workshop, lines: tuple[str, ...], flow: str
) -> None:
    assert look(workshop, flow, *lines) == ["FAI014"]


def test_a_loop_that_sleeps_is_told_in_a_step_that_is_cancelled(workshop: Workshop) -> None:
    assert look(workshop, FLOW, *SLEEPING) == ["FAI014"]
    workshop.forget_modules()
    assert look(workshop, UNCANCELLED, *SLEEPING) == []


@pytest.mark.parametrize(
    "lines",
    [
        (*SLEEPING, "    if ctx.cancelled:", "        return"),
        (*SLEEPING, "    ctx.heartbeat()"),
        (*SLEEPING, "    print(ctx)"),
        (*STUBBORN, "    if ctx.cancelled:", "        break"),
        (*STUBBORN[:3], "    except ValueError:", "        pass"),
        (*STUBBORN[:4], "        raise"),
        ("for number in range(1000):", "    len('x')"),
        ("def inner():", *(f"    {line}" for line in STUBBORN)),
    ],
)  # fmt: skip
def test_a_loop_that_asks_or_ends_is_not(workshop: Workshop, lines: tuple[str, ...]) -> None:
    assert look(workshop, FLOW, *lines) == []


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        ("except BaseException: pass", ["FAI014"]),
        ("except: pass", ["FAI014"]),
        ("except (ValueError, asyncio.CancelledError): pass", ["FAI014"]),
        ("except BaseException: raise", []),
        ("except Exception: pass", []),
        ("except asyncio.CancelledError: return None", []),
    ],
)
def test_an_async_handler_lets_its_end_pass(workshop: Workshop, clause: str, found: list[str]) -> None:
    lines = ("try:", "    await asyncio.sleep(1)", clause)
    assert look(workshop, FLOW, *lines, start="async def pay(ctx):") == found


def test_an_async_loop_is_ended_from_outside(workshop: Workshop) -> None:
    lines = ("while True:", "    await asyncio.sleep(1)")
    assert look(workshop, FLOW, *lines, start="async def pay(ctx):") == []


def test_a_declared_heartbeat_that_never_comes_is_told(workshop: Workshop) -> None:
    text = FLOW.replace("EXECUTE", "{handler: pay, heartbeat: 30s}")
    found = one(workshop.check("def pay():\n    pass\n", text))
    assert (found.code, found.severity) == ("FAI012", "info")
    assert found.message.startswith("`pay` never calls `ctx.heartbeat`, though Pay declares a heartbeat")
    assert found.help.startswith("attempts longer than 30 s fail")
    assert [span.label for span in found.spans] == ["declared here", "no heartbeat in it"]


@pytest.mark.parametrize("line", ["ctx.heartbeat(1)", "_step(ctx)", "print(ctx)", "every(ctx.heartbeat)"])
def test_a_heartbeat_may_come_from_anywhere(workshop: Workshop, line: str) -> None:
    execute = "{handler: pay, heartbeat: 30s}"
    start = "def _step(c):\n    c.heartbeat()\n\n\ndef pay(ctx):"
    assert look(workshop, FLOW, line, execute=execute, start=start) == []


LONG = "{handler: pay, timeout: 10m}"


@pytest.mark.parametrize(
    ("flow", "execute", "line", "start", "found"),
    [
        (FLOW, LONG, "pass", "def pay(ctx):", ["FAI012"]),
        (FLOW, LONG, "pass", "def pay():", ["FAI012"]),
        (UNCANCELLED, LONG, "pass", "def pay(ctx):", []),
        (FLOW, "pay", "pass", "def pay(ctx):", []),
        (FLOW, "{handler: pay, timeout: 1m}", "pass", "def pay(ctx):", []),
        (FLOW, LONG, "return ctx.cancelled", "def pay(ctx):", []),
        (FLOW, LONG, "print(ctx)", "def pay(ctx):", []),
        (FLOW, LONG, "pass", "async def pay(ctx):", []),
    ],
)
def test_a_step_that_may_take_long_and_is_cancelled_is_to_notice(
    workshop: Workshop, flow: str, execute: str, line: str, start: str, found: list[str]
) -> None:
    assert look(workshop, flow, line, execute=execute, start=start) == found
