"""Runs as text: the head, what is active, what came out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from orchestrator.cli.layout import columns, cut
from orchestrator.cli.output import compact
from orchestrator.cli.spans import format_moment, format_until, parse_moment
from orchestrator.cli.terminal import bare, paint
from orchestrator.definition.durations import span_words

STATUS_COLOURS = {
    "RUNNING": "blue",
    "COMPLETED": "green",
    "FAILED": "red",
    "CANCELED": "yellow",
    "TERMINATED": "yellow",
}
PHASE_COLOURS = {"queued": "dim", "waiting": "magenta", "running": "blue", "backing_off": "yellow"}


def status_text(status: str) -> str:
    return paint(status, STATUS_COLOURS.get(status, "bold"), "bold", stream=sys.stdout)


def _paused() -> str:
    return paint("paused", "yellow", "bold", stream=sys.stdout)


def dim(text: str) -> str:
    return paint(text, "dim", stream=sys.stdout)


def title(text: str) -> str:
    return paint(text, "bold", stream=sys.stdout)


def run_as_text(run: Mapping[str, Any], now: datetime) -> str:
    """`describe` and the end of `run`."""
    return "\n".join([*_head(run, now), *_error(run), *_active(run, now), *_state(run), *_outputs(run)])


def _head(run: Mapping[str, Any], now: datetime) -> Iterator[str]:
    paused = f"  {_paused()}" if run.get("paused") else ""
    yield f"{title(bare(run['flow_id']))}  {run['flow']}  {status_text(run['status'])}{paused}"
    started, closed = parse_moment(run.get("started_at")), parse_moment(run.get("closed_at"))
    if started is not None:
        span = span_words((closed or now) - started)
        how_long = f"took {span}" if closed else f"{span} ago"
        yield dim(f"  started {format_moment(started)}, {how_long}; run {run['run_id']}")
    deadline = parse_moment(run.get("deadline_at"))
    if deadline is not None:
        yield dim(f"  times out {format_until(deadline, now)}")


def _error(run: Mapping[str, Any]) -> Iterator[str]:
    error = run.get("error")
    if not error:
        return
    at = f" at {error['step_execution_id']}" if error.get("step_execution_id") else ""
    first, *others = str(error["message"]).splitlines() or [""]
    red = paint(f"{error['type']}{at}: {bare(first)}", "red", stream=sys.stdout)
    yield f"  {title('error')}  {red}"
    for line in others:
        yield f"    {paint(bare(line), 'red', stream=sys.stdout)}"
    failure = error.get("failure")
    if failure:
        attempts = failure.get("attempts")
        after = f" (after {attempts} attempt{'s' if attempts != 1 else ''})" if attempts else ""
        yield dim(f"    {failure.get('type')}: {cut(str(failure.get('message')), 200)}{after}")


def _active(run: Mapping[str, Any], now: datetime) -> Iterator[str]:
    if not run.get("active"):
        return
    yield title("  active")
    rows = [
        [
            f"    {execution['step_execution_id']}",
            paint(execution["phase"], PHASE_COLOURS.get(execution["phase"], "bold"), stream=sys.stdout),
            what_for(execution, now),
        ]
        for execution in run["active"]
    ]
    yield from ("".join(row).rstrip() for row in columns(rows))


def what_for(execution: Mapping[str, Any], now: datetime) -> str:
    """Why an execution is not done: what it waits for, its attempt, its last failure."""
    parts = []
    if execution.get("paused"):
        parts.append("paused")
    if execution.get("wait"):
        parts.append(wait_text(execution["wait"], now))
    if execution.get("attempt", 1) > 1:
        parts.append(f"attempt {execution['attempt']}")
    due = parse_moment(execution.get("due_at"))
    if due is not None and execution["phase"] in {"queued", "backing_off"} and due > now:
        parts.append(format_until(due, now))
    failure = execution.get("last_failure")
    if failure:
        parts.append(f"last: {failure.get('type')}: {cut(str(failure.get('message')), 60)}")
    return bare(", ".join(parts))


def wait_text(wait: Mapping[str, Any], now: datetime) -> str:
    """`for contractEditToken.for 1`; `for approval or deadline in 2.0s`."""
    groups = wait.get("groups")
    (combinator, conditions), *_ = wait.items()
    texts = {condition["id"]: condition_text(condition, now) for condition in conditions}
    if groups is not None:
        return "for " + " or ".join(" and ".join(texts[name] for name in group) for group in groups)
    return "for " + (" or " if combinator == "any_of" else " and ").join(texts.values())


def condition_text(condition: Mapping[str, Any], now: datetime) -> str:
    fires_at = parse_moment(condition.get("fires_at"))
    if fires_at is not None:
        return f"{condition['id']} {format_until(fires_at, now)}"
    name = condition.get("channel") or condition.get("subflow") or condition.get("join") or condition["id"]
    key = f"[{condition['key']}]" if condition.get("key") is not None else ""
    counts = [
        f".{count} {condition[count]}"
        for count in ("for", "at_least", "at_most")
        if condition.get(count) is not None
    ]
    return f"{name}{key}{''.join(counts)}"


def _state(run: Mapping[str, Any]) -> Iterator[str]:
    attributes = run.get("attributes") or {}
    if attributes:
        yield title("  attributes")
        for row in columns([[f"    {name}", compact(value, 100)] for name, value in attributes.items()]):
            yield "".join(row)
    channels = {name: state for name, state in (run.get("channels") or {}).items() if state["size"]}
    if channels:
        yield title("  unread messages")
        for row in columns([[f"    {name}", _unread(state)] for name, state in channels.items()]):
            yield "".join(row)


def _unread(state: Mapping[str, Any]) -> str:
    text = str(state["size"])
    if state.get("keys"):
        text += " (" + ", ".join(f"{key}: {size}" for key, size in state["keys"].items()) + ")"
    if state.get("messages"):
        text += "  " + compact(state["messages"], 100)
    return bare(text)


def _outputs(run: Mapping[str, Any]) -> Iterator[str]:
    for output in run.get("outputs") or []:
        yield title(f"  output of {output['step_execution_id']}")
        value = output["output"]
        if isinstance(value, list) and value:
            yield from (f"    {compact(element, 10_000)}" for element in value)
        else:
            yield f"    {compact(value, 10_000)}"


def runs_as_text(runs: list[Mapping[str, Any]], now: datetime) -> str:
    """`list`: one line a run."""
    rows = []
    for run in runs:
        started, closed = parse_moment(run["started_at"]), parse_moment(run["closed_at"])
        span = span_words((closed or now) - started) if started else ""
        status = run["status"] + (" (paused)" if run.get("paused") else "")
        rows.append([bare(run["flow_id"]), run["flow"], status, format_moment(started), span])
    lines = columns([["FLOW ID", "FLOW", "STATUS", "STARTED", "TOOK"], *rows])
    texts = [title("".join(lines[0]))]
    for row, run in zip(lines[1:], runs, strict=True):
        row[2] = row[2].replace(run["status"], status_text(run["status"]), 1)
        texts.append("".join(row).rstrip())
    return "\n".join(texts)
