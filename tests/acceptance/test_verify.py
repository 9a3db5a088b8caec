"""`verify` and `check`, typed: verdicts, exit codes, formats, rehearsals of counterexamples, pictures."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator

from tests.acceptance.command import ROOT, Place
from tests.support.official_schemas import official_schema

SARIF = official_schema("https://json.schemastore.org/sarif-2.1.0.json")

STUCK = """\
flow: Stuck
description: One of two branches never gets the token back.
input: list of string
channels:
  token: string
start: Begin
steps:
  Begin:
    publish: {token: t}
    go_to_many:
      - {for_each: "${input}", as: name, step: Work, input: "${name}"}
  Work:
    input: string
    wait_for: {until: {channel: token}}
    execute: {handler: work, retry: {maximum_attempts: 1}}
    result: {name: done, type: {type: object, required: [ok], properties: {ok: {type: boolean}}}}
    on_failure: Release
    decide:
      - {when: done.ok, publish: {token: t}, graceful_complete: }
      - dead_end: true
  Release:
    publish: {token: t}
    graceful_complete:
"""
SOUND = STUCK.replace("flow: Stuck", "flow: Sound").replace(
    "      - dead_end: true", "      - {publish: {token: t}, graceful_complete: }"
)
LEFT = "channels:\n  token: {type: string, leftover: true}\n"


@pytest.fixture
def bench(place: Place) -> Place:
    for name, text in (("stuck", STUCK), ("sound", SOUND)):
        written = text.replace("channels:\n  token: string\n", LEFT)
        place.write(f"flows/{name}.flow.yaml", written)
    return place


def validated(document: Any) -> Any:
    schema = json.loads((ROOT / "schemas" / "verify.schema.json").read_text(encoding="utf-8"))
    Draft7Validator.check_schema(schema)
    errors = [error.message for error in Draft7Validator(schema).iter_errors(document)]
    assert errors == []
    return document


def test_what_holds_is_told_with_the_bounds(bench: Place) -> None:
    done = bench.type("verify", "flows/sound.flow.yaml")
    assert (done.code, done.stderr) == (0, "")
    head, bounds, *rows = done.stdout.splitlines()
    assert head.startswith("flows/sound.flow.yaml: Sound: ")
    assert bounds.startswith("  fan-out 0, 1, 2, 3; ")
    assert any(row.split()[:2] in (["deadlock", "checked"], ["deadlock", "proved"]) for row in rows)


def test_a_violation_is_framed_with_its_trace(bench: Place) -> None:
    done = bench.type("verify", "flows/stuck.flow.yaml", "--property", "deadlock")
    assert done.code == 1
    assert "error[VER001] deadlock: " in done.stdout
    assert "= trace (shortest, " in done.stdout
    assert "       1 Begin-1  commit          [size(input) = 2]" in done.stdout
    assert "<-- from here on nothing can move" in done.stdout
    assert "Work-2 has 0 of 1 token" in done.stdout
    assert "token is empty; published by Begin, Work, Release" in done.stdout
    assert "replayed with real data" in done.stdout


def test_a_counterexample_becomes_a_rehearsal_that_plays_it(bench: Place) -> None:
    traces = ".orchestrator/traces"
    done = bench.type("verify", "flows/stuck.flow.yaml", "--property", "deadlock", "--trace-dir", traces)
    path = f"{traces}/Stuck.deadlock.rehearsal.yaml"
    assert f"= replay: orchestrator rehearse {path}" in done.stdout
    played = bench.type("rehearse", path)
    assert (played.code, played.stdout.splitlines()[-1]) == (0, "1 rehearsal, all as expected")
    bench.write("flows/stuck.flow.yaml", SOUND.replace("Sound", "Stuck"))
    mended = bench.type("rehearse", path)
    assert mended.code == 1
    assert "status: expected RUNNING, it is COMPLETED" in mended.stdout


def test_json_is_as_published(bench: Place) -> None:
    done = bench.type("verify", "flows/", "-o", "json")
    assert done.code == 1
    document = validated(done.json())
    by_flow = {flow["flow"]: flow for flow in document["flows"]}
    assert by_flow["Stuck"]["verdict"] == "violated"
    assert by_flow["Stuck"]["bounds"] == {"fan_out": [0, 1, 2, 3], "external": {}}
    deadlock = next(each for each in by_flow["Stuck"]["properties"] if each["property"] == "deadlock")
    assert (deadlock["rule"], deadlock["verdict"]) == ("VER001", "violated")
    assert deadlock["length"] == len(deadlock["trace"])
    assert deadlock["replayed"] is True and deadlock["rehearsal"] is None
    assert deadlock["trace"][0]["guesses"] == [{"what": "size(input)", "value": 2}]
    assert deadlock["end"]["active"] == ["Work-2"]
    assert "VER001" in {problem["code"] for problem in document["problems"]}
    lines = bench.type("verify", "flows/", "-o", "jsonl").stdout.splitlines()
    assert [json.loads(line)["flow"] for line in lines] == list(by_flow)


def test_other_formats_are_the_linters(bench: Place) -> None:
    flow = ("verify", "flows/stuck.flow.yaml", "--property", "deadlock")
    concise = bench.type(*flow, "-o", "concise")
    assert concise.code == 1 and ": VER001 " in concise.stdout
    assert bench.type(*flow, "-o", "github").stdout.startswith(
        "::error title=VER001 deadlock,file=flows/stuck"
    )
    junit = ElementTree.fromstring(bench.type(*flow, "-o", "junit").stdout)
    assert junit.attrib["failures"] == "1"
    sarif = json.loads(bench.type(*flow, "-o", "sarif").stdout)
    assert [error.message for error in Draft7Validator(SARIF).iter_errors(sarif)] == []
    (run,) = sarif["runs"]
    (result,) = run["results"]
    threads = {each["id"]: each["locations"] for each in result["codeFlows"][0]["threadFlows"]}
    assert {"Begin-1", "Work-1"} <= set(threads)


def test_bounds_are_options(bench: Place) -> None:
    small = bench.type("verify", "flows/stuck.flow.yaml", "--fan-out", "0,1", "--property", "deadlock")
    assert small.code == 0
    assert "fan-out 0, 1; " in small.stdout
    wrong = bench.type("verify", "flows/", "--fan-out", "some")
    assert wrong.code == 2 and "--fan-out: `some` is not a list of lengths" in wrong.stderr


def test_what_is_not_decided_is_exit_code_3_or_a_failure(bench: Place) -> None:
    flow = ("verify", "flows/sound.flow.yaml", "--max-states", "3")
    done = bench.type(*flow)
    assert done.code == 3
    assert "warning[VER005] state-limit: not decided after " in done.stdout
    assert bench.type(*flow, "--unknown", "fail").code == 1
    assert bench.type("check", "flows/sound.flow.yaml", "--max-states", "3").code == 0
    assert bench.type("check", "flows/sound.flow.yaml", "--max-states", "3", "--unknown", "fail").code == 1


def test_of_many_flows_those_that_are_well_take_a_line(bench: Place) -> None:
    for number in range(3):
        text = SOUND.replace("flow: Sound", f"flow: Sound{number}")
        bench.write(f"flows/sound{number}.flow.yaml", text)
    lines = bench.type("verify", "flows/").stdout.splitlines()
    told = [line for line in lines if line.startswith("flows/sound")]
    assert [line.split(": ")[1] for line in told] == ["Sound", "Sound0", "Sound1", "Sound2"]
    assert all(" proved, " in line and line.endswith(" states") for line in told)
    assert sum(line.startswith("flows/stuck") for line in lines) == 2  # its line, and its table
    assert sum("  token_conservation" in line for line in lines) == 1


def test_a_property_that_nobody_knows_is_a_usage_error(bench: Place) -> None:
    done = bench.type("verify", "flows/", "--property", "deadlok")
    assert done.code == 2
    assert "did you mean `deadlock`?" in done.stderr


def accept(bench: Place, comment: str) -> None:
    text = (bench.directory / "flows/stuck.flow.yaml").read_text(encoding="utf-8")
    line = "    wait_for: {until: {channel: token}}"
    bench.write("flows/stuck.flow.yaml", text.replace(line, f"{line}  # lint: ignore[{comment}"))


def test_a_comment_accepts_a_violation(bench: Place) -> None:
    accept(bench, "VER001] the others are stopped by hand")
    flow = ("verify", "flows/stuck.flow.yaml", "--property", "deadlock")
    done = bench.type(*flow)
    assert done.code == 0
    assert "(accepted by a comment)" in done.stdout and "error[" not in done.stdout
    (flow_found,) = bench.type(*flow, "-o", "json").json()["flows"]
    assert [each["accepted"] for each in flow_found["properties"]] == [True]


def test_a_comment_that_accepts_nothing_is_said_by_who_can_know(place: Place) -> None:
    place.write(
        "flows/idle.flow.yaml",
        "flow: Idle\nstart: A\nsteps:\n  A: {graceful_complete: }  # lint: ignore[VER001] old\n",
    )
    assert "MET001" not in place.type("lint", "flows/idle.flow.yaml", "--format", "concise").stdout
    assert "MET001" in place.type("verify", "flows/idle.flow.yaml", "-o", "concise").stdout
    assert place.type("check", "flows/idle.flow.yaml", "--format", "concise").stdout.count("MET001") == 1


def test_check_is_both(bench: Place) -> None:
    bench.write("flows/broken.flow.yaml", "flow: Broken\nstart: Nowhere\nsteps: {}\n")
    done = bench.type("check", "flows/", "--format", "concise")
    assert done.code == 1
    found = [line.split()[1] for line in done.stdout.splitlines()]
    assert {"REF001", "VER001"} <= set(found)
    assert found.count("REF001") == 1
    document = validated(bench.type("check", "flows/", "-o", "json").json())
    assert {"REF001", "VER001"} <= {problem["code"] for problem in document["problems"]}
    text = bench.type("check", "flows/stuck.flow.yaml")
    assert "  deadlock " in text.stdout and "error[VER001]" in text.stdout
    assert bench.type("check", "flows/stuck.flow.yaml", "--ignore", "VER,TOK,JON,GRA,FAI").code == 0


def test_the_examples_are_sound_or_say_why_not() -> None:
    done = Place(ROOT).type("check", "--strict", "flows/")
    assert done.code == 0, done.stdout
    for path in sorted((ROOT / "flows").rglob("*.flow.yaml")):
        for line in path.read_text(encoding="utf-8").splitlines():
            _, found, reason = line.partition("# lint: ignore[")
            assert not found or reason.partition("]")[2].strip(), f"{path}: {line.strip()}: no reason"


def test_files_that_cannot_be_loaded_are_problems(bench: Place) -> None:
    bench.write("flows/broken.flow.yaml", "flow: Broken\nstart: Nowhere\nsteps: {}\n")
    done = bench.type("verify", "flows/broken.flow.yaml", "flows/sound.flow.yaml")
    assert done.code == 1
    assert "REF001" in done.stdout and "flows/sound.flow.yaml: Sound: " in done.stdout


def test_standard_input_is_verified(place: Place) -> None:
    done = place.type("verify", "-", "--property", "deadlock", stdin=STUCK)
    assert done.code == 1
    assert "--> <stdin>:" in done.stdout
    assert place.type("check", "-", "--select", "VER", stdin=SOUND).code == 0


def test_traces_are_drawn(bench: Place) -> None:
    flow = ("verify", "flows/stuck.flow.yaml", "--property", "deadlock", "--trace-image")
    done = bench.type(*flow, "trace.svg")
    assert "wrote trace.svg (svg, " in done.stderr
    picture = (bench.directory / "trace.svg").read_text(encoding="utf-8")
    assert 'id="trace-numbers"' in picture and "VER001 deadlock: trace (shortest, " in picture
    wrong = bench.type(*flow, "trace.txt")
    assert wrong.code == 2 and "--trace-image: name a file that ends in .svg, .png, .pdf" in wrong.stderr
    none = bench.type("verify", "flows/sound.flow.yaml", "--property", "deadlock", "--trace-image", "a.svg")
    assert none.code == 0 and "there is no counterexample to draw" in none.stderr
