"""What is shown of a run while it goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from orchestrator.cli.progress import active_rows, headline, summary

NOW = datetime(2030, 1, 31, 9, 0, 10, tzinfo=UTC)


def execution(step: str, number: int, phase: str, **more: Any) -> dict[str, Any]:
    named = {
        "step": step,
        "step_execution_id": f"{step}-{number}",
        "phase": phase,
        "attempt": 1,
        "due_at": None,
    }
    return named | more


def run(*active: dict[str, Any]) -> dict[str, Any]:
    return {
        "flow_id": "e-1",
        "flow": "Edits",
        "status": "RUNNING",
        "started_at": "2030-01-31T09:00:00Z",
        "closed_at": None,
        "active": list(active),
    }


TOKEN = {"until": [{"id": "token", "kind": "channel", "channel": "token", "for": 1}]}


def test_executions_that_wait_for_the_same_stand_together() -> None:
    rows = active_rows(
        run(
            execution("Enter", 1, "waiting", wait=TOKEN),
            execution("Enter", 2, "waiting", wait=TOKEN),
            execution("Save", 1, "running"),
        ),
        NOW,
    )
    assert rows == [("Save-1", "running", ""), ("Enter ×2", "waiting", "for token.for 1")]


def test_a_retry_says_when_and_why() -> None:
    failed = execution(
        "Save",
        1,
        "backing_off",
        attempt=2,
        due_at="2030-01-31T09:00:11Z",
        last_failure={"type": "OSError", "message": "disk full"},
    )
    assert active_rows(run(failed), NOW) == [
        ("Save-1", "retrying", "attempt 2, in 1s, last: OSError: disk full"),
    ]


def test_the_headline_counts() -> None:
    assert headline(run(execution("A", 1, "queued")), 3, NOW) == "e-1  Edits  RUNNING  10s  3 done, 1 active"


def test_in_a_log_a_run_is_one_line() -> None:
    active = [execution("Enter", number, "waiting", wait=TOKEN) for number in (1, 2)]
    assert summary(run(*active), 4, NOW) == "e-1: 4 done; Enter waiting ×2"
    assert summary(run(), 4, NOW) == "e-1: 4 done"
