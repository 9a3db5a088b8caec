"""`orchestrator rehearse`, typed."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator

from tests.acceptance.command import ROOT, Place

FLOW = """
flow: Wait
input: integer
channels: {go: {type: integer, external: true}}
start: A
steps:
  A:
    wait_for: {any_of: [{channel: go}, {timer: 1d, id: day}]}
    decide:
      - {when: wait.day.satisfied, graceful_complete: late}
      - graceful_complete: ${wait.go.message}
"""
GOOD = """
rehearsals:
  - {name: a day, input: 1, expect: {output: late, took: 1d}}
"""
BAD = """
rehearsals:
  - name: wrong
    input: 1
    events: [{at: 1h, publish: {go: 7}}]
    expect: {output: 8}
  - {name: a day, input: 1}
"""


@pytest.fixture
def rehearsed(place: Place) -> Place:
    place.write("flows/wait.flow.yaml", FLOW)
    place.write("flows/wait.rehearsal.yaml", GOOD)
    return place


def test_what_holds_exits_with_0(rehearsed: Place) -> None:
    done = rehearsed.type("rehearse", "flows")
    assert done.code == 0
    assert done.stdout.splitlines() == [
        "flows/wait.rehearsal.yaml",
        "  ok   a day",
        "",
        "1 rehearsal, all as expected",
    ]


def test_what_does_not_hold_exits_with_1_and_says_where(rehearsed: Place) -> None:
    rehearsed.write("flows/wait.rehearsal.yaml", BAD)
    done = rehearsed.type("rehearse", "flows/wait.flow.yaml")
    assert done.code == 1
    assert "flows/wait.rehearsal.yaml:6:22: output: expected 8, it is 7" in done.stdout
    assert "the run: COMPLETED after 1h" in done.stdout
    assert done.stdout.rstrip().endswith("2 rehearsals, 1 failed")


def test_rehearsals_are_chosen_by_name(rehearsed: Place) -> None:
    rehearsed.write("flows/wait.rehearsal.yaml", BAD)
    assert rehearsed.type("rehearse", "flows", "--name", "day").code == 0
    assert rehearsed.type("rehearse", "flows", "--name", "nothing").code == 4


def test_coverage_names_and_paints_what_was_never_taken(rehearsed: Place) -> None:
    done = rehearsed.type("rehearse", "flows", "--coverage", "--coverage-image", "coverage.svg")
    assert done.code == 0
    assert "    flows/wait.flow.yaml:11:9: decision A/2" in done.stdout
    assert "1 rehearsal, 60 % taken" in (rehearsed.directory / "coverage.svg").read_text(encoding="utf-8")


def test_json_has_its_schema(rehearsed: Place) -> None:
    rehearsed.write("flows/wait.rehearsal.yaml", BAD)
    done = rehearsed.type("rehearse", "flows", "--coverage", "-o", "json")
    schema = json.loads((ROOT / "schemas" / "rehearse.schema.json").read_text(encoding="utf-8"))
    result = done.json()
    assert [error.message for error in Draft7Validator(schema).iter_errors(result)] == []
    wrong, right = result["rehearsals"]
    assert (wrong["passed"], right["passed"], done.code) == (False, True, 1)
    assert wrong["differences"][0] | {"message": ""} == {
        "what": "output",
        "message": "",
        "path": "flows/wait.rehearsal.yaml",
        "line": 6,
        "column": 22,
        "expected": 8,
        "actual": 7,
    }
    assert (result["coverage"][0]["taken"], result["coverage"][0]["total"]) == (5, 5)


def test_mistakes_in_a_file_are_shown_with_their_lines(rehearsed: Place) -> None:
    rehearsed.write("flows/wait.rehearsal.yaml", "rehearsals:\n  - {name: a, inptu: 1}\n")
    done = rehearsed.type("rehearse", "flows")
    assert (done.code, done.stdout) == (1, "")
    assert "flows/wait.rehearsal.yaml:2:15" in done.stderr
    assert "did you mean `input`?" in done.stderr
    done = rehearsed.type("rehearse", "flows", "-o", "json")
    assert done.error()["type"] == "definition"


def test_a_directory_without_rehearsals_is_a_mistake_of_usage(place: Place) -> None:
    assert place.type("rehearse", ".").code == 2
