"""`lint --handlers`, and what `run` and `worker` say of handlers that cannot be called."""

from __future__ import annotations

import pytest

from tests.acceptance.command import ROOT, Place

FLOW = """\
flow: Greeting
handlers: handlers.greeting
input: string
output: string
attributes: {greeted: {type: string, initial: nobody}}
timeout: 1d
start: Greet
steps:
  Greet:
    execute: greet  # says hello
    set: {greeted: "${input}"}
    graceful_complete: ${attributes.greeted}
"""
HANDLERS = """\
print("loading")


def greet(ctx, name):
    ctx.attributes["greeted"] = name.title()
"""
FILE = "flows/greeting.flow.yaml"


@pytest.fixture
def bench(place: Place) -> Place:
    place.write(FILE, FLOW)
    place.write("handlers/greeting.py", HANDLERS)
    return place


def test_the_flows_of_this_project_have_no_problem_with_their_handlers(place: Place) -> None:
    done = Place(ROOT).type("lint", "flows", "--handlers", "--format", "json")
    found = {problem["code"] for problem in done.json()["problems"]}
    own = {"REF004", "DAT008", "DAT010", "DAT011", "DEC005", "FAI012", "FAI014"}
    assert found & {*own, *(f"REF01{digit}" for digit in range(10))} == set()


def test_both_files_are_shown_and_stdout_stays_clean(bench: Place) -> None:
    done = bench.type("lint", FILE, "--handlers", "--select", "REF011")
    assert done.code == 1
    assert "flows/greeting.flow.yaml:10:14" in done.stdout
    assert "handlers/greeting.py:5" in done.stdout
    as_json = bench.type("lint", FILE, "--handlers", "--format", "json").json()
    found = {problem["code"]: problem for problem in as_json["problems"]}
    assert set(found) >= {"REF011", "REF015"}
    assert [span["path"] for span in found["REF011"]["spans"]] == ["handlers/greeting.py"]


def test_the_fix_declares_the_effect_and_keeps_the_comment(bench: Place) -> None:
    wanted = ("lint", FILE, "--handlers", "--unsafe-fixes", "--select", "REF011")
    diff = bench.type(*wanted, "--diff")
    assert diff.code == 1
    assert "+    execute: {handler: greet, may: {set: [greeted]}}  # says hello" in diff.stdout
    assert "loading" not in diff.stdout
    assert bench.type(*wanted, "--fix").code == 0
    assert "may: {set: [greeted]}}  # says hello" in (bench.directory / FILE).read_text()
    assert (
        bench.type("run", FILE, "--id", "g", "--input", '"ada"', "-o", "json").json()["status"] == "COMPLETED"
    )


def test_without_handlers_nothing_is_imported(bench: Place) -> None:
    done = bench.type("lint", FILE)
    assert "REF01" not in done.stdout
    assert "loading" not in done.stderr


def test_a_module_that_ends_the_program_does_not_end_lint(bench: Place) -> None:
    bench.write("handlers/greeting.py", "import sys\nsys.exit(0)\n")
    done = bench.type("lint", FILE, "--handlers", "--format", "concise")
    assert done.code == 1
    assert "REF004 importing `handlers.greeting` ends the program: SystemExit: 0" in done.stdout


def test_run_says_what_may_have_been_meant(bench: Place) -> None:
    bench.write(FILE, FLOW.replace("execute: greet", "execute: great"))
    done = bench.type("run", FILE, "--id", "g", "--input", '"ada"')
    assert done.code == 1
    assert "10:14: REF004 there is no function `great` in `handlers.greeting`" in done.stderr
    assert "help: did you mean `greet`?" in done.stderr
    error = bench.type("run", FILE, "--id", "g", "--input", '"ada"', "-o", "json").error()
    assert error["problems"] == [
        "flows/greeting.flow.yaml:10:14: REF004 there is no function `great` in `handlers.greeting`"
    ]


def test_a_worker_says_it_too(bench: Place) -> None:
    bench.write(FILE, FLOW.replace("execute: greet", "execute: great"))
    assert bench.type("start", FILE, "--id", "g", "--input", '"ada"').code == 0
    done = bench.type("worker", "--until-idle")
    assert "there is no function `great` in `handlers.greeting` (did you mean `greet`?)" in done.stderr


def test_a_comment_beside_the_handler_suppresses_what_its_source_is_said_to_do(bench: Place) -> None:
    comment = "# lint: ignore[REF011] the next release declares it"
    bench.write(FILE, FLOW.replace("# says hello", comment))
    done = bench.type("lint", FILE, "--handlers", "--select", "REF011,MET001")
    assert done.code == 0, done.stdout
    assert bench.type("lint", FILE, "--select", "MET001", "--strict").code == 0
