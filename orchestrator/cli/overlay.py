"""A run as what is painted on the diagram of its flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from orchestrator.cli.spans import format_until, parse_moment
from orchestrator.cli.views import wait_text
from orchestrator.definition.durations import span_words
from orchestrator.render.overlay import Mark, MarkState, RunOverlay

ENDS = {"completed": MarkState.DONE, "failed": MarkState.FAILED, "cancelled": MarkState.CANCELLED}


def paint_run(run: Mapping[str, Any], commits: Iterable[Mapping[str, Any]], now: datetime) -> RunOverlay:
    """Ended executions from history, active ones as `describe` shows them."""
    marks: dict[str, Counter[tuple[MarkState, str]]] = {}
    taken: Counter[str] = Counter()
    open_ids: dict[str, None] = {}
    for commit in commits:
        for change in commit.get("changes", ()):
            if change["change"] == "step_queued":
                open_ids[f"{change['execution']['step']}-{change['execution']['number']}"] = None
            if change["change"] != "step_ended":
                continue
            open_ids.pop(change["execution_id"], None)
            step = step_of(change["execution_id"])
            failure = change.get("failure")
            text = f"{failure['type']}: {failure['message']}" if failure else ""
            marks.setdefault(step, Counter())[ENDS[change["how"]], text] += 1
            if change.get("decision"):
                taken[f"{step}/{change['decision']}"] += 1
    if run["status"] != "RUNNING":
        for execution_id in open_ids:  # They ended with the run.
            marks.setdefault(step_of(execution_id), Counter())[MarkState.CANCELLED, ""] += 1
    for execution in run["active"]:
        marks.setdefault(execution["step"], Counter())[_active_mark(execution, now)] += 1
    return RunOverlay(
        title=f"{run['flow_id']}, {run['status']}",
        marks={
            step: tuple(Mark(state, count, text) for (state, text), count in counted.items())
            for step, counted in marks.items()
        },
        taken=dict(taken),
        queued={name: state["size"] for name, state in run["channels"].items() if state["size"]},
    )


def step_of(execution_id: str) -> str:
    return execution_id.rpartition("-")[0]


def _active_mark(execution: Mapping[str, Any], now: datetime) -> tuple[MarkState, str]:
    if execution["phase"] == "waiting":
        return MarkState.WAITING, wait_text(execution["wait"], now)
    failure = execution.get("last_failure")
    if execution["attempt"] > 1 and failure:
        due = parse_moment(execution.get("due_at"))
        when = f" {format_until(due, now)}" if due is not None and due > now else ""
        return MarkState.RETRYING, f"attempt {execution['attempt']}{when}: {failure['message']}"
    due = parse_moment(execution.get("due_at"))
    if due is not None and due > now:
        return MarkState.WAITING, f"starts in {span_words(due - now)}"
    return MarkState.ACTIVE, ""
