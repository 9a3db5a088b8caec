"""How history reads on a terminal, and what of it is painted on a diagram."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from orchestrator.cli.commits import history_as_text
from orchestrator.cli.overlay import paint_run
from orchestrator.render.overlay import Mark, MarkState

NOW = datetime(2030, 1, 31, 9, 0, 10, tzinfo=UTC)


def commit(
    version: int, at: str, event: str, execution: str | None, *changes: dict[str, Any]
) -> dict[str, Any]:
    return {
        "version": version,
        "at": f"2030-01-31T09:00:{at}Z",
        "event": event,
        "step_execution_id": execution,
        "changes": list(changes),
    }


FAILURE = {"type": "OSError", "message": "disk full"}
COMMITS = [
    commit(1, "00", "RunStarted", None, {"change": "step_queued", "execution": {"step": "A", "number": 1}}),
    commit(
        2,
        "00.02",
        "ExecuteFailed",
        "A-1",
        {
            "change": "attempt_failed",
            "execution_id": "A-1",
            "due_at": "2030-01-31T09:00:01.02Z",
            "failure": FAILURE,
        },
    ),
    commit(
        3,
        "01.5",
        "ExecuteSucceeded",
        "A-1",
        {"change": "message_queued", "channel": "c", "key": None, "message": {"seq": 1, "value": 1}},
        {"change": "step_ended", "execution_id": "A-1", "how": "completed", "decision": 2},
        {"change": "step_queued", "execution": {"step": "B", "number": 1}},
        {"change": "step_queued", "execution": {"step": "B", "number": 2}},
    ),
    commit(
        4,
        "02",
        "ExecuteFailed",
        "B-1",
        {"change": "step_ended", "execution_id": "B-1", "how": "failed", "failure": FAILURE},
        {"change": "run_closed", "status": "FAILED", "at": "2030-01-31T09:00:02Z"},
    ),
]


def test_history_is_one_line_a_commit() -> None:
    assert history_as_text(COMMITS).splitlines() == [
        "   1      +0ms       run started        → A",
        "   2     +20ms  A-1  execute failed     OSError: disk full, again in 1s",
        "   3     +1.5s  A-1  execute succeeded  decision 2; → B ×2; publishes to c",
        "   4       +2s  B-1  execute failed     FAILED; failed: OSError: disk full",
    ]


def test_on_a_narrow_terminal_what_changed_stands_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.cli.commits.is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert history_as_text(COMMITS).splitlines()[1:3] == [
        "   2     +20ms  A-1  execute failed",
        "      OSError: disk full, again in 1s",
    ]
    monkeypatch.setenv("COLUMNS", "80")
    assert len(history_as_text(COMMITS).splitlines()) == len(COMMITS)
    for width in (40, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        assert all(len(line) <= width for line in history_as_text(COMMITS).splitlines())


def test_a_run_is_painted_from_its_history_and_what_is_active() -> None:
    wait = {"until": [{"id": "c", "kind": "channel", "channel": "c", "for": 3}]}
    active = {"step": "B", "step_execution_id": "B-2", "phase": "waiting", "attempt": 1, "wait": wait}
    run = {
        "flow_id": "r-1",
        "status": "RUNNING",
        "active": [active],
        "channels": {"c": {"size": 1}, "d": {"size": 0}},
    }
    overlay = paint_run(run, COMMITS, NOW)
    assert overlay.title == "r-1, RUNNING"
    assert overlay.marks["A"] == (Mark(MarkState.DONE, 1),)
    assert overlay.marks["B"] == (
        Mark(MarkState.FAILED, 1, "OSError: disk full"),
        Mark(MarkState.WAITING, 1, "for c.for 3"),
    )
    assert overlay.taken == {"A/2": 1}
    assert overlay.queued == {"c": 1}


def test_what_a_closing_run_left_open_is_painted_as_cancelled() -> None:
    run = {"flow_id": "r-1", "status": "FAILED", "active": [], "channels": {}}
    assert paint_run(run, COMMITS, NOW).marks["B"] == (
        Mark(MarkState.FAILED, 1, "OSError: disk full"),
        Mark(MarkState.CANCELLED, 1),
    )
