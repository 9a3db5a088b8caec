"""`explain` from the command line, and the same explanation at the end of `run`."""

from __future__ import annotations

import json

import yaml

from orchestrator.engine.explain.text import explanation_as_text
from tests.acceptance.command import Place
from tests.acceptance.test_flows import fits

STUCK = """\
flow: Stuck
channels: {c: string}
start: A
steps:
  A: {wait_for: {until: {channel: c}}, dead_end: true}
"""


def test_why_a_run_waits_for_a_client(place: Place) -> None:
    place.type("run", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"so"', "--until-blocked")
    done = place.type("explain", "a-1")
    assert done.code == 0
    assert done.stdout.splitlines() == [
        "a-1  Ask  RUNNING",
        "waiting for the outside: Wait waits for answer, which a client may send",
        "",
        "Wait-1  waiting",
        "  answer  0 of 1 message on answer",
        "    client  can: orchestrator publish a-1 answer VALUE",
    ]
    place.type("publish", "a-1", "answer", '"yes"')
    place.type("run", "--resume", "a-1")
    closed = place.type("explain", "a-1").stdout.splitlines()
    assert closed == ["a-1  Ask  COMPLETED", "closed: completed, with output of Wait-1"]


def test_json_and_yaml_say_the_same(place: Place) -> None:
    place.type("start", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    explained = place.type("explain", "h-1", "-o", "json").json()
    assert fits(explained, "explain") == []
    assert explained["verdict"] == "progressing"
    assert explained["active"][0]["help"] == [
        {"text": "a worker must be running", "command": "orchestrator worker"}
    ]
    as_yaml = yaml.safe_load(place.type("explain", "h-1", "-o", "yaml").stdout)
    assert as_yaml.keys() == explained.keys()


def test_who_stopped_a_run_is_said(place: Place) -> None:
    place.type("start", "Ask", "--id", "a-1", "--input", '"so"')
    place.type("stop", "a-1")
    assert "closed: canceled by a client" in place.type("explain", "a-1").stdout


def test_an_unknown_run_is_not_found(place: Place) -> None:
    place.type("start", "Ask", "--id", "a-1", "--input", '"so"')
    done = place.type("explain", "nope", "-o", "json")
    assert (done.code, done.error()["type"]) == (4, "not_found")


def test_run_ends_with_the_explanation_when_nothing_can_move_it(place: Place) -> None:
    place.write("flows/stuck.flow.yaml", STUCK)
    done = place.type("run", "flows/stuck.flow.yaml", "--id", "s-1", "-o", "json")
    assert (done.code, done.stdout) == (3, "")
    error = done.error()
    assert error["message"] == (
        "s-1 stands still, stuck, nobody can move it: A-1 waits for 1 message on c, which nobody can send"
    )
    assert (error["type"], error["verdict"]) == ("blocked", "stuck")
    assert fits(error["explanation"], "explain") == []
    told = place.type("run", "--resume", "s-1")
    assert told.code == 3
    assert place.type("explain", "s-1").stdout in told.stderr


def test_colours_are_only_added(place: Place) -> None:
    place.write("flows/stuck.flow.yaml", STUCK)
    place.type("run", "flows/stuck.flow.yaml", "--id", "s-1")
    explained = json.loads(place.type("explain", "s-1", "-o", "json").stdout)

    def mark(text: str, *styles: str) -> str:
        return f"<{'+'.join(styles)}|{text}>"

    marked = explanation_as_text(explained, mark)
    assert "<red+bold|stuck, nobody can move it:>" in marked
    assert "<cyan|orchestrator stop s-1 --type fail --reason TEXT>" in marked
