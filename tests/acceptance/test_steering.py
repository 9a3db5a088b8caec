"""Steering runs from the command line: time-travel, pause, resume."""

from __future__ import annotations

import pytest

from tests.acceptance.command import Place


def completed(place: Place) -> None:
    done = place.type("run", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    assert done.code == 0, done.stderr


def test_time_travel_lets_a_closed_run_go_on(place: Place) -> None:
    completed(place)
    done = place.type("time-travel", "h-1", "--to", "Greet-1/execute", "--yes", "-o", "json")
    assert done.code == 0, done.stderr
    assert done.json().items() >= {"flow_id": "h-1", "run_attempt": 2}.items()
    assert place.type("describe", "h-1", "-o", "json").json()["status"] == "RUNNING"
    assert place.type("run", "--resume", "h-1").code == 0
    events = [row["event"] for row in place.type("history", "h-1", "-o", "json").json()]
    assert events == ["RunStarted", "ExecuteSucceeded", "TimeTravelled", "ExecuteSucceeded"]
    assert "back to what it was after commit 1" in place.type("history", "h-1").stdout


def test_time_travel_keeps_what_clients_sent_unless_asked_not_to(place: Place) -> None:
    place.type("start", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"q"')
    place.type("publish", "a-1", "answer", '"yes"')
    assert place.type("time-travel", "a-1", "--to", "beginning", "--yes").code == 0
    described = place.type("describe", "a-1", "-o", "json").json()
    assert (described["status"], described["run_attempt"]) == ("COMPLETED", 2)
    assert place.type("time-travel", "a-1", "--to", "beginning", "--skip-reapply", "--yes").code == 0
    described = place.type("describe", "a-1", "-o", "json").json()
    assert (described["status"], described["run_attempt"]) == ("RUNNING", 3)


def test_time_travel_asks_and_without_a_terminal_needs_yes(place: Place) -> None:
    completed(place)
    done = place.type("time-travel", "h-1", "--to", "beginning")
    assert (done.code, "--yes" in done.stderr) == (2, True)
    assert place.type("describe", "h-1", "-o", "json").json()["run_attempt"] == 1


@pytest.mark.parametrize(
    ("point", "code", "words"),
    [
        ("Nowhere", 4, "no execution of step Nowhere"),
        ("Greet-7/execute", 4, "no execution of Greet-7"),
        ("2001-01-01T00:00:00Z", 4, "had not started"),
        ("2001-13-01T00:00:00Z", 2, "is not a time"),
        ("Greet-1", 2, "Greet-1/wait_for or Greet-1/execute"),
        ("Greet-1/decide", 2, "write STEP-N/wait_for or STEP-N/execute"),
    ],
)
def test_points_that_are_none_change_nothing(place: Place, point: str, code: int, words: str) -> None:
    completed(place)
    done = place.type("time-travel", "h-1", "--to", point, "--yes", "-o", "json")
    assert done.code == code
    assert words in done.error()["message"]
    assert place.type("describe", "h-1", "-o", "json").json()["run_attempt"] == 1


def test_time_travel_of_an_unknown_run(place: Place) -> None:
    completed(place)
    assert place.type("time-travel", "h-2", "--to", "beginning", "--yes").code == 4


def test_a_paused_flow_type_waits_for_its_resumption(place: Place) -> None:
    place.type("start", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    done = place.type("pause", "Hello", "-o", "json")
    assert (done.code, done.json()) == (
        0,
        {"flow": "Hello", "step": None, "paused": True, "changed": True},
    )
    assert place.type("worker", "--until-idle").code == 0
    assert "Hello  RUNNING  paused" in place.type("describe", "h-1").stdout
    assert "RUNNING (paused)" in place.type("list").stdout
    explained = place.type("explain", "h-1").stdout
    assert "Greet-1 is paused" in explained
    assert "orchestrator resume Hello" in explained
    blocked = place.type("run", "--resume", "h-1", "--until-blocked")
    assert (blocked.code, "Greet-1 is paused" in blocked.stderr) == (3, True)
    assert place.type("resume", "Hello").code == 0
    assert place.type("run", "--resume", "h-1").code == 0


def test_a_step_is_paused_by_its_name(place: Place) -> None:
    place.type("start", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    assert place.type("pause", "Hello/Greet").code == 0
    place.type("worker", "--until-idle")
    assert place.type("describe", "h-1", "-o", "json").json()["active"][0]["paused"] is True
    assert place.type("resume", "Hello/Greet", "-o", "json").json()["changed"] is True
    assert place.type("resume", "Hello/Greet", "-o", "json").json()["changed"] is False


@pytest.mark.parametrize(("target", "code"), [("Hullo", 4), ("Hello/Great", 4), ("Hello/", 2), ("/Greet", 2)])
def test_what_is_not_there_cannot_be_paused(place: Place, target: str, code: int) -> None:
    place.type("start", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    assert place.type("pause", target).code == code
    assert place.type("describe", "h-1", "-o", "json").json()["paused"] is False
