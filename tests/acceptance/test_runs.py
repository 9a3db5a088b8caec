"""Runs from the command line: exit codes, streams, values, and what is printed."""

from __future__ import annotations

import itertools
import signal
import subprocess
from pathlib import Path
from typing import IO

import pytest

from tests.acceptance.command import ROOT, Place
from tests.acceptance.test_flows import fits

ID = ["--id", "r-1"]
STUCK = """\
flow: Stuck
channels: {c: string}
start: A
steps:
  A: {wait_for: {until: {channel: c}}, dead_end: true}
"""


def hello(place: Place, name: str = "Ada", *more: str) -> list[str]:
    return ["run", "flows/hello.flow.yaml", *ID, "--input", f'"{name}"', *more]


def test_a_run_that_completes_exits_0_and_prints_the_run(place: Place) -> None:
    done = place.type(*hello(place, "Ada", "-o", "json"))
    assert done.code == 0
    run = done.json()
    assert fits(run, "run") == []
    assert run["status"] == "COMPLETED"
    assert run["outputs"] == [{"step": "Greet", "step_execution_id": "Greet-1", "output": "hello Ada"}]


def test_what_handlers_print_is_no_result(place: Place) -> None:
    done = place.type(*hello(place, "Ada", "-o", "json"))
    assert "greeting Ada" in done.stderr
    assert "greeting Ada" not in done.stdout


def test_a_run_that_fails_exits_1_and_says_why(place: Place) -> None:
    done = place.type(*hello(place, "nobody", "-o", "json"))
    assert done.code == 1
    error = done.json()["error"]
    assert (error["type"], error["step_execution_id"]) == ("step_failed", "Greet-1")
    assert error["failure"]["message"] == "there is nobody to greet"


def test_an_id_is_started_once(place: Place) -> None:
    assert place.type(*hello(place)).code == 0
    again = place.type(*hello(place, "Ada", "-o", "json"))
    assert (again.code, again.stdout) == (5, "")
    assert again.error()["type"] == "already_started"


def test_a_closed_run_resumed_is_printed(place: Place) -> None:
    place.type(*hello(place))
    done = place.type("run", "--resume", "r-1", "-o", "json")
    assert (done.code, done.json()["status"]) == (0, "COMPLETED")


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "flows/hello.flow.yaml"],
        ["run", "flows/hello.flow.yaml", *ID, "--input", "Ada"],
        ["run", "flows/hello.flow.yaml", *ID, "--input", "@nowhere.json"],
        ["run", "flows/hello.flow.yaml", "--resume", "r-1"],
        ["run", "flows/ask.flow.yaml", *ID, "--attribute", "mood"],
        ["start", "flows/hello.flow.yaml", *ID, "--delay", "soon"],
        ["list", "--db", "runs.db"],
        ["start", "Hello"],
    ],
)
def test_usage_errors_exit_2_and_store_nothing(place: Place, words: list[str]) -> None:
    done = place.type(*words)
    assert (done.code, done.stdout) == (2, "")
    assert not (place.directory / "orchestrator.db").exists()


@pytest.mark.parametrize(
    ("words", "type"),
    [
        (["run", "flows/hello.flow.yaml", *ID, "--input", "1"], "invalid_value"),
        (["run", "flows/ask.flow.yaml", *ID, "--input", '"a"', "--attribute", "mood=1"], "invalid_value"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(place: Place, words: list[str], type: str) -> None:
    done = place.type(*words, "-o", "json")
    assert (done.code, done.error()["type"]) == (1, type)


def test_handlers_that_cannot_be_called_are_found_before_anything_is_stored(place: Place) -> None:
    place.write("handlers/hello.py", "def greet(a, b, c): ...\n")
    done = place.type(*hello(place))
    assert done.code == 1
    assert "flows/hello.flow.yaml:10:24: DAT008" in done.stderr
    assert not (place.directory / "orchestrator.db").exists()


def test_a_run_in_parts(place: Place) -> None:
    started = place.type("start", "Ask", *ID, "--input", '"so"', "--attribute", 'mood="glad"', "-o", "json")
    assert started.code == 0
    assert fits(started.json(), "start") == []
    assert place.type("worker", "--until-idle").code == 0
    described = place.type("describe", "r-1", "-o", "json").json()
    assert fits(described, "run") == []
    assert [(active["step_execution_id"], active["phase"]) for active in described["active"]] == [
        ("Wait-1", "waiting")
    ]
    assert place.type("wait", "r-1", "--timeout", "10ms").code == 3
    assert place.type("publish", "r-1", "answer", '"yes"').code == 0
    assert place.type("worker", "--until-idle").code == 0
    done = place.type("wait", "r-1", "-o", "json")
    assert (done.code, done.json()["outputs"][0]["output"]) == (0, "so yes glad")


def test_a_repeated_start_gives_the_run_that_there_is(place: Place) -> None:
    words = ["start", "Ask", *ID, "--input", '"so"', "--request-id", "q", "--return-existing", "-o", "json"]
    first, second = place.type(*words).json(), place.type(*words).json()
    assert (first["created"], second["created"]) == (True, False)
    assert first["run_id"] == second["run_id"]


@pytest.mark.parametrize(
    ("words", "code", "type"),
    [
        (["publish", "r-1", "inner", '"x"'], 1, "not_external"),
        (["publish", "r-1", "answer", "1"], 1, "invalid_value"),
        (["publish", "r-1", "nowhere", "1"], 4, "not_found"),
        (["publish", "nope", "answer", '"x"'], 4, "not_found"),
        (["describe", "nope"], 4, "not_found"),
        (["history", "nope"], 4, "not_found"),
        (["wait", "nope"], 4, "not_found"),
        (["watch", "nope"], 4, "not_found"),
        (["stop", "nope"], 4, "not_found"),
        (["run", "--resume", "nope"], 4, "not_found"),
        (["start", "Nope", "--id", "x"], 4, "not_found"),
    ],
)
def test_refusals_by_exit_code(place: Place, words: list[str], code: int, type: str) -> None:
    place.type("start", "Ask", *ID, "--input", '"so"')
    done = place.type(*words)
    assert (done.code, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert place.type(*words, "-o", "json").error()["type"] == type


def test_a_closed_run_takes_no_more(place: Place) -> None:
    place.type("start", "Ask", *ID, "--input", '"so"')
    assert place.type("stop", "r-1", "--reason", "enough").code == 0
    described = place.type("describe", "r-1", "-o", "json").json()
    assert (described["status"], described["active"]) == ("CANCELED", [])
    assert place.type("publish", "r-1", "answer", '"x"').code == 4
    assert place.type("stop", "r-1").code == 4
    assert place.type("wait", "r-1").code == 1


def test_terminating_asks(place: Place) -> None:
    place.type("start", "Ask", *ID, "--input", '"so"')
    refused = place.type("stop", "r-1", "--type", "terminate")
    assert (refused.code, "--yes" in refused.stderr) == (2, True)
    assert place.type("stop", "r-1", "--type", "terminate", "--yes").code == 0
    assert place.type("describe", "r-1", "-o", "json").json()["status"] == "TERMINATED"


def test_a_run_that_only_a_client_can_move_ends_when_asked(place: Place) -> None:
    done = place.type("run", "flows/ask.flow.yaml", *ID, "--input", '"so"', "--until-blocked")
    assert done.code == 3
    assert "Wait-1" in done.stderr
    assert "answer" in done.stderr


def test_a_run_that_nobody_can_move_ends_with_the_explanation(place: Place) -> None:
    place.write("flows/stuck.flow.yaml", STUCK)
    done = place.type("run", "flows/stuck.flow.yaml", *ID, "-o", "json")
    assert done.code == 3
    assert done.error()["type"] == "blocked"
    assert "A-1" in done.error()["message"]


def test_history_tells_commit_by_commit(place: Place) -> None:
    place.type(*hello(place))
    as_json = place.type("history", "r-1", "-o", "json").json()
    assert [fits(commit, "history") for commit in as_json] == [[] for _ in as_json]
    assert [commit["version"] for commit in as_json] == list(range(1, len(as_json) + 1))
    lines = place.type("history", "r-1", "-o", "jsonl").stdout.splitlines()
    assert len(lines) == len(as_json)
    assert "COMPLETED" in place.type("history", "r-1").stdout.splitlines()[-1]


def test_runs_are_listed_newest_first(place: Place) -> None:
    place.type("start", "Ask", "--id", "old", "--input", '"so"')
    place.type("start", "Ask", "--id", "new", "--input", '"so"')
    listed = place.type("list", "-o", "json").json()
    assert [fits(head, "list") for head in listed] == [[], []]
    assert [head["flow_id"] for head in listed] == ["new", "old"]
    assert [line.split()[0] for line in place.type("list").stdout.splitlines()] == ["FLOW", "new", "old"]
    found = place.type("list", "--where", "flow_id == 'old'", "-o", "jsonl")
    assert len(found.stdout.splitlines()) == 1
    assert place.type("list", "--where", "flow_id ==").code == 2


def test_watching_a_closed_run_prints_it(place: Place) -> None:
    place.type(*hello(place))
    done = place.type("watch", "r-1")
    assert done.code == 0
    assert "COMPLETED" in done.stdout
    assert len(place.type("watch", "r-1", "-o", "jsonl").stdout.splitlines()) == 1


def test_the_environment_names_the_database(place: Place) -> None:
    place.type(*hello(place), ORCHESTRATOR_DB="sqlite:///elsewhere.db")
    assert (place.directory / "elsewhere.db").exists()
    assert place.type("describe", "r-1").code == 4
    assert place.type("describe", "r-1", "--db", "sqlite:///elsewhere.db").code == 0


def test_a_file_that_is_no_database_is_an_error_without_traceback(place: Place) -> None:
    place.write("notes.db", "these are notes, not a database\n" * 100)
    done = place.type("list", "--db", "sqlite:///notes.db", "-o", "json")
    assert (done.code, done.error()["type"]) == (70, "store")


def test_values_may_come_from_stdin_and_files(place: Place) -> None:
    place.write("in.json", '"file"')
    assert (
        "hello file" in place.type("run", "flows/hello.flow.yaml", "--id", "a", "--input", "@in.json").stdout
    )
    assert (
        "hello pipe"
        in place.type("run", "flows/hello.flow.yaml", "--id", "b", "--input", "-", stdin='"pipe"').stdout
    )


def test_sigterm_drains_a_worker(place: Place) -> None:
    with subprocess.Popen(
        place.command("worker"),
        cwd=place.directory,
        env=place.environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        read_until(process.stderr, "working on")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0


def test_an_interrupted_run_can_be_resumed(place: Place) -> None:
    with subprocess.Popen(
        place.command("run", "flows/ask.flow.yaml", *ID, "--input", '"so"'),
        cwd=place.directory,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        read_until(process.stderr, "r-1 started")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert "run --resume r-1" in stderr
    place.type("publish", "r-1", "answer", '"yes"')
    done = place.type("run", "--resume", "r-1")
    assert done.code == 0
    assert "so yes calm" in done.stdout


HELD = {
    "queue": (
        ("queues", "set", "line", "--route", "Hello", "--concurrency", "0"),
        [
            "r-1 waits: Greet-1 is ready, but the queue line is full: 0 of 0 run",
            "  let more be begun: orchestrator queues set line --concurrency N",
        ],
        ("queues", "set", "line", "--concurrency", "1"),
    ),
    "flow": (
        ("pause", "Hello"),
        [
            "r-1 waits: Greet-1 is paused",
            "  let runs of this type go on: orchestrator resume Hello",
        ],
        ("resume", "Hello"),
    ),
    "step": (
        ("pause", "Hello/Greet"),
        [
            "r-1 waits: Greet-1 is paused",
            "  let it go on: orchestrator resume Hello/Greet",
        ],
        ("resume", "Hello/Greet"),
    ),
}


@pytest.mark.parametrize("held_by", HELD)
def test_a_run_that_is_held_says_by_what_and_goes_on_when_it_is_let(place: Place, held_by: str) -> None:
    hold, said, release = HELD[held_by]
    place.type("start", "flows/hello.flow.yaml", *ID, "--input", '"Ada"')
    assert place.type(*hold).code == 0
    with subprocess.Popen(
        place.command("run", "--resume", "r-1"),
        cwd=place.directory,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline().rstrip("\n") for _ in range(1 + len(said))]
        assert lines == ["r-1 resumed", *said]
        assert place.type(*release).code == 0
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "hello Ada" in stdout
    assert "waits:" not in stderr, "it is said once"


def read_until(stream: IO[str] | None, text: str) -> None:
    assert stream is not None
    for line in stream:
        if text in line:
            return
    raise AssertionError(f"{text!r} was never said")


def test_the_published_example_runs(tmp_path: Path) -> None:
    """One record per edit, edits never overlap, one token is left."""
    flow, given = "flows/contract_edit.flow.yaml", "@flows/contract_edit.input.json"
    words = ["run", flow, "--id", "e-1", "--input", given, "-o", "json"]
    done = Place(ROOT).type(*words, "--db", f"sqlite:///{tmp_path}/runs.db")
    assert done.code == 0
    run = done.json()
    records = run["outputs"][0]["output"]
    outcomes = {record["reviewer"]: record["outcome"] for record in records}
    assert outcomes == {
        "Ada": "saved",
        "Ben": "withdrawn",
        "Chloe": "failed",
        "Dev": "failed",
        "Eve": "saved",
    }
    spans = sorted((record["started_at_millis"], record["finished_at_millis"]) for record in records)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert {name: state["size"] for name, state in run["channels"].items()} == {
        "contractEditToken": 1,
        "contractEditFinished": 0,
    }


@pytest.fixture
def orders(place: Place) -> Place:
    (place.directory / "stuck.flow.yaml").write_text(STUCK, encoding="utf-8")
    for number in (1, 2, 3, 4):
        assert place.type("start", "stuck.flow.yaml", "--id", f"order-{number}").code == 0
    return place


UNKNOWN = [
    ["describe", "Order-3"],
    ["history", "Order-3"],
    ["explain", "Order-3"],
    ["publish", "Order-3", "c", '"x"'],
    ["rpc", "Order-3", "x"],
    ["wait", "Order-3"],
    ["watch", "Order-3"],
    ["attributes", "get", "Order-3"],
    ["config", "Order-3"],
    ["stop", "Order-3"],
    ["skip-timer", "Order-3", "A-1"],
    ["retry-now", "Order-3", "A-1"],
    ["time-travel", "Order-3", "--to", "beginning", "--yes"],
    ["run", "--resume", "Order-3"],
    ["render", "stuck.flow.yaml", "--run", "Order-3", "-O", "x.svg"],
    ["db", "export", "Order-3"],
]


def test_an_id_that_no_run_has_is_told_with_those_like_it(orders: Place) -> None:
    for words in UNKNOWN:
        done = orders.type(*words)
        assert (done.code, done.stdout) == (4, ""), words
        assert "there is no run Order-3; did you mean `order-3`, `order-" in done.stderr, words
    error = orders.type("describe", "order-", "-o", "json").error()
    assert error["message"].startswith(
        "there is no run order-; did you mean `order-4`, `order-3` or `order-2`?"
    )
    assert error["flow_id"] == "order-"
    assert orders.type("describe", "invoice").stderr == "error: there is no run invoice\n"
    run_id = orders.type("describe", "order-2", "-o", "json").json()["run_id"]
    wrong = orders.type("describe", run_id)
    assert wrong.stderr == f"error: there is no run {run_id}: this is a run id, of `order-2`\n"
