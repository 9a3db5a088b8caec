"""How a run goes on, shown while it does: live on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.cli.layout import cut
from orchestrator.cli.session import now
from orchestrator.cli.spans import parse_moment
from orchestrator.cli.terminal import is_terminal, note
from orchestrator.cli.views import what_for
from orchestrator.definition.durations import span_words
from orchestrator.errors import OrchestratorError

if TYPE_CHECKING:
    from rich.table import Table

Look = Callable[[], tuple[Mapping[str, Any], int]]
"""Gives the run as `describe` does, and how many executions have ended."""

MAX_ROW_COUNT = 12
REFRESHES_PER_SECOND = 8
SECONDS_BETWEEN_LINES = 5.0
ACTIVE_PHASES = {"queued": "queued", "waiting": "waiting", "running": "running", "backing_off": "retrying"}
COLOURS = {"queued": "dim", "waiting": "magenta", "running": "blue", "retrying": "yellow"}


@contextmanager
def shown(look: Look) -> Iterator[None]:
    """Show how the run goes on for as long as the block lasts."""
    if is_terminal(sys.stderr):
        with _live(look):
            yield
    else:
        with _lines(look):
            yield


def active_rows(run: Mapping[str, Any], moment: datetime) -> list[tuple[str, str, str]]:
    """(step, state, why), executions of one step in the same state together, busiest states first."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for execution in run["active"]:
        state = ACTIVE_PHASES.get(execution["phase"], execution["phase"])
        why = (
            ""
            if state in {"queued", "running"} and execution["attempt"] == 1
            else what_for(execution, moment)
        )
        grouped.setdefault((execution["step"], state, why), []).append(execution["step_execution_id"])
    order = ["running", "retrying", "queued", "waiting"]
    rows = [
        (ids[0] if len(ids) == 1 else f"{step} ×{len(ids)}", state, why)
        for (step, state, why), ids in grouped.items()
    ]
    return sorted(rows, key=lambda row: (order.index(row[1]) if row[1] in order else len(order), row[0]))


def headline(run: Mapping[str, Any], done_count: int, moment: datetime) -> str:
    started = parse_moment(run["started_at"])
    span = span_words((parse_moment(run["closed_at"]) or moment) - started) if started else ""
    counts = f"{done_count} done, {len(run['active'])} active"
    return "  ".join([run["flow_id"], run["flow"], run["status"], span, counts])


def summary(run: Mapping[str, Any], done_count: int, moment: datetime) -> str:
    """One line for a log."""
    counts: dict[str, int] = {}
    for execution in run["active"]:
        state = ACTIVE_PHASES.get(execution["phase"], execution["phase"])
        counts[f"{execution['step']} {state}"] = counts.get(f"{execution['step']} {state}", 0) + 1
    active = ", ".join(what if count == 1 else f"{what} ×{count}" for what, count in sorted(counts.items()))
    return cut(f"{run['flow_id']}: {done_count} done" + (f"; {active}" if active else ""), 160)


@contextmanager
def _live(look: Look) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    last: list[Table] = []

    def draw() -> Table:
        try:
            last[:] = [_table(*look(), console.width)]
        except OrchestratorError:
            # The store is busy or already closing: the picture of a moment ago will do.
            last[:] = last or [_table({}, 0, console.width)]
        return last[0]

    with Live(
        get_renderable=draw,
        console=console,
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
    ):
        yield


def _table(run: Mapping[str, Any], done_count: int, width: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    if not run:
        return table
    moment = now()
    rows = active_rows(run, moment)
    head = headline(run, done_count, moment)
    outer = Table.grid()
    outer.add_row(Text(cut(head, width), style="bold", no_wrap=True))
    for step, state, why in rows[:MAX_ROW_COUNT]:
        table.add_row(
            Text(f"  {step}", no_wrap=True),
            Text(state, style=COLOURS.get(state, ""), no_wrap=True),
            Text(why, style="dim", no_wrap=True, overflow="ellipsis"),
        )
    if len(rows) > MAX_ROW_COUNT:
        table.add_row(Text(f"  … and {len(rows) - MAX_ROW_COUNT} more", style="dim"))
    outer.add_row(table)
    return outer


@contextmanager
def _lines(look: Look) -> Iterator[None]:
    ended = threading.Event()

    def tell() -> None:
        previous = ""
        while not ended.wait(SECONDS_BETWEEN_LINES):
            try:
                run, done_count = look()
            except OrchestratorError:
                continue
            line = summary(run, done_count, now())
            if line != previous:
                note(line)
            previous = line

    teller = threading.Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
