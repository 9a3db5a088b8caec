"""How runs read on a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from orchestrator.cli.layout import columns, cut, width_of
from orchestrator.cli.views import run_as_text, runs_as_text, wait_text

NOW = datetime(2030, 1, 31, 9, 0, 10, tzinfo=UTC)
RUN: dict[str, Any] = {
    "flow_id": "edit-1",
    "run_id": "r1",
    "run_attempt": 1,
    "flow": "ContractEditFlow",
    "definition": "sha256:0",
    "status": "RUNNING",
    "started_at": "2030-01-31T09:00:00Z",
    "closed_at": None,
    "outputs": [],
    "error": None,
    "active": [
        {
            "step": "EnterContractEdit",
            "step_execution_id": "EnterContractEdit-2",
            "phase": "waiting",
            "attempt": 1,
            "wait": {
                "until": [
                    {"id": "contractEditToken", "kind": "channel", "channel": "contractEditToken", "for": 1}
                ]
            },
        },
        {
            "step": "SaveContractEdit",
            "step_execution_id": "SaveContractEdit-1",
            "phase": "backing_off",
            "attempt": 2,
            "last_failure": {"type": "RuntimeError", "message": "the disk\nis full"},
        },
    ],
    "attributes": {"status": "editing"},
    "channels": {"contractEditToken": {"size": 0}, "contractEditFinished": {"size": 2}},
}


def test_a_run_under_way_says_what_is_active_and_what_for() -> None:
    assert run_as_text(RUN, NOW).splitlines() == [
        "edit-1  ContractEditFlow  RUNNING",
        "  started 2030-01-31 09:00:00Z, 10s ago; run r1",
        "  active",
        "    EnterContractEdit-2  waiting      for contractEditToken.for 1",
        "    SaveContractEdit-1   backing_off  attempt 2, last: RuntimeError: the disk is full",
        "  attributes",
        '    status  "editing"',
        "  unread messages",
        "    contractEditFinished  2",
    ]


def test_a_closed_run_shows_its_output_one_element_a_line() -> None:
    closed = RUN | {
        "status": "COMPLETED",
        "closed_at": "2030-01-31T09:00:02.5Z",
        "active": [],
        "attributes": {},
        "channels": {},
        "outputs": [{"step": "Finish", "step_execution_id": "Finish-1", "output": [{"a": 1}, {"a": 2}]}],
    }
    assert run_as_text(closed, NOW).splitlines() == [
        "edit-1  ContractEditFlow  COMPLETED",
        "  started 2030-01-31 09:00:00Z, took 2.5s; run r1",
        "  output of Finish-1",
        '    {"a": 1}',
        '    {"a": 2}',
    ]


def test_a_failed_run_says_why() -> None:
    failed = RUN | {
        "status": "FAILED",
        "active": [],
        "attributes": {},
        "channels": {},
        "error": {
            "type": "step_failed",
            "message": "no route",
            "step_execution_id": "Save-1",
            "failure": {"type": "OSError", "message": "disk full", "attempts": 2},
        },
    }
    assert run_as_text(failed, NOW).splitlines()[2:] == [
        "  error  step_failed at Save-1: no route",
        "    OSError: disk full (after 2 attempts)",
    ]


def test_waits_read_like_the_definition() -> None:
    wait = {
        "any_of": [
            {"id": "approval", "kind": "channel", "channel": "approval", "for": 1},
            {"id": "deadline", "kind": "timer", "fires_at": "2030-01-31T09:00:40Z"},
        ]
    }
    assert wait_text(wait, NOW) == "for approval.for 1 or deadline in 30s"


def test_a_list_of_runs_is_a_table() -> None:
    lines = runs_as_text([RUN], NOW).splitlines()
    assert lines[0].split() == ["FLOW", "ID", "FLOW", "STATUS", "STARTED", "TOOK"]
    assert lines[1].split() == ["edit-1", "ContractEditFlow", "RUNNING", "2030-01-31", "09:00:00Z", "10s"]


def test_wide_characters_keep_columns_straight() -> None:
    rows = columns([["審査", "x"], ["a", "y"]])
    assert [width_of(row[0]) for row in rows] == [6, 6]
    assert cut("審査する人", 6) == "審査…"
