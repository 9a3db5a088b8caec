"""`orchestrator db …`: caring for the store from the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.acceptance.command import ROOT, Place

SCHEMA_1 = ROOT / "tests" / "unit" / "store" / "schema_1.sql"


@pytest.fixture
def used(place: Place) -> Place:
    """With a closed run and one that waits."""
    assert place.type("run", "flows/hello.flow.yaml", "--id", "done", "--input", '"Ada"').code == 0
    assert place.type("start", "flows/ask.flow.yaml", "--id", "open", "--input", '"q"').code == 0
    return place


def ids(place: Place, *words: str) -> list[str]:
    return sorted(run["flow_id"] for run in place.type("list", "-o", "json", *words).json())


def version_of(place: Place, version: int) -> None:
    """Make the database one of that schema version."""
    path = place.directory / "orchestrator.db"
    with closing(sqlite3.connect(path)) as connection:
        if version == 1:
            connection.executescript(SCHEMA_1.read_text(encoding="utf-8"))
            connection.execute("PRAGMA application_id=0x0F10C4A7")
        connection.execute("INSERT INTO schema_version VALUES (?, 0)", (version,))
        connection.commit()


def test_a_line_that_is_nested_without_end_is_refused_at_its_place(place: Place) -> None:
    place.write("deep.jsonl", "[" * 100_000 + "\n")
    done = place.type("db", "import", "deep.jsonl", "--yes")
    assert (done.code, done.stderr) == (1, "error: line 1: JSON that is nested too deeply\n")


def test_status_shows_what_there_is(used: Place) -> None:
    done = used.type("db", "status", "-o", "json")
    assert done.code == 0
    found = done.json()
    schema = json.loads((ROOT / "schemas" / "db-status.schema.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft7Validator(schema).iter_errors(found)] == []
    assert found["runs"] == {"COMPLETED": 1, "RUNNING": 1}
    text = used.type("db", "status").stdout
    assert "1 COMPLETED, 1 RUNNING" in text
    assert "schema version" in text


def test_prune_asks_and_without_a_terminal_needs_yes(used: Place) -> None:
    done = used.type("db", "prune", "--older-than", "0s")
    assert (done.code, "--yes" in done.stderr) == (2, True)
    assert ids(used) == ["done", "open"]


def test_prune_deletes_closed_runs_only(used: Place) -> None:
    assert used.type("db", "prune", "--older-than", "1h", "--yes", "-o", "json").json()["runs"] == 0
    done = used.type("db", "prune", "--older-than", "0s", "--yes", "-o", "json")
    assert (done.code, done.json()["runs"]) == (0, 1)
    assert ids(used) == ["open"]
    assert used.type("describe", "done").code == 4


def test_objects_that_a_killed_prune_left_behind_are_deleted_by_the_next(place: Place) -> None:
    place.write("pyproject.toml", '[tool.orchestrator]\nobjects = "objects"\noffload_over_kib = 1\n')
    for flow_id in ("old", "open"):
        place.type("start", "flows/ask.flow.yaml", "--id", flow_id, "--input", f'"{"x" * 2000}"')
    place.type("stop", "old")
    kept = {path.name: len(list(path.iterdir())) for path in (place.directory / "objects").iterdir()}
    assert kept.keys() == {"1", "2"}
    prune = ("db", "prune", "--older-than", "0s", "--yes")
    assert place.type(*prune, ORCHESTRATOR_FAULT="prune:1:after").code == -9
    assert ids(place) == ["open"]
    assert (place.directory / "objects" / "1").exists()
    done = place.type(*prune)
    assert "deleted the objects of 1 run that an earlier pruning had left behind\n" in done.stderr
    assert [path.name for path in (place.directory / "objects").iterdir()] == ["2"]
    assert len(list((place.directory / "objects" / "2").iterdir())) == kept["2"]
    assert "left behind" not in place.type(*prune).stderr


def test_prune_takes_its_span_from_the_project(used: Place) -> None:
    assert used.type("db", "prune", "--yes").code == 2
    used.write("pyproject.toml", '[tool.orchestrator]\nretention = "0s"\n')
    assert used.type("db", "prune", "--yes").code == 0
    assert ids(used) == ["open"]


@pytest.mark.parametrize(("words", "code"), [(["--older-than", "soon"], 2), (["--older-than=-1h"], 2)])
def test_prune_wants_a_span(used: Place, words: list[str], code: int) -> None:
    assert used.type("db", "prune", "--yes", *words).code == code
    assert ids(used) == ["done", "open"]


def test_a_worker_deletes_what_its_retention_is_over_for(used: Place) -> None:
    assert used.type("worker", "--until-idle", "--retention", "1h").code == 0
    assert ids(used) == ["done", "open"]
    assert used.type("worker", "--until-idle", "--retention", "0s").code == 0
    assert ids(used) == ["open"]
    assert used.type("worker", "--until-idle", "--retention", "soon").code == 2


def test_vacuum_keeps_everything(used: Place) -> None:
    assert used.type("db", "vacuum").code == 0
    assert ids(used) == ["done", "open"]


def test_commands_of_a_database_that_is_not_there(place: Place) -> None:
    for command in ("status", "vacuum", "export"):
        assert place.type("db", command).code == 4
    assert place.type("db", "prune", "--older-than", "1d", "--yes").code == 4
    assert not (place.directory / "orchestrator.db").exists()


def test_upgrade_makes_a_new_database(place: Place) -> None:
    done = place.type("db", "upgrade", "-o", "json")
    assert (done.code, done.json()["before"]) == (0, 0)
    again = place.type("db", "upgrade", "-o", "json").json()
    assert again["before"] == again["after"] > 1


def test_an_older_database_is_upgraded(place: Place) -> None:
    version_of(place, 1)
    refused = place.type("list")
    assert (refused.code, "orchestrator db upgrade" in refused.stderr) == (70, True)
    assert place.type("db", "upgrade", "-o", "json").json()["before"] == 1
    assert place.type("list", "-o", "json").json() == []


def test_a_newer_database_is_refused(used: Place) -> None:
    version_of(used, 999)
    for words in (["list"], ["db", "upgrade"], ["db", "status"]):
        done = used.type(*words)
        assert (done.code, "use a newer release" in done.stderr) == (70, True)


def test_runs_go_out_and_in(used: Place) -> None:
    exported = used.type("db", "export")
    assert [next(iter(json.loads(line))) for line in exported.stdout.splitlines()] == [
        "kind",
        "definition",
        "definition",
        "run",
        "run",
    ]
    assert used.type("db", "export", "-O", "runs.jsonl").code == 0
    assert used.type("db", "import", "runs.jsonl", "--db", "sqlite:///new.db").code == 2, "it asks"
    assert not Path(used.directory / "new.db").exists()
    done = used.type("db", "import", "runs.jsonl", "--yes", "--db", "sqlite:///new.db", "-o", "json")
    assert (done.code, done.json()) == (0, {"runs": 2, "definitions": 2})
    for flow_id in ("done", "open"):
        old = used.type("describe", flow_id, "-o", "json").json()
        assert used.type("describe", flow_id, "-o", "json", "--db", "sqlite:///new.db").json() == old
    used.type("publish", "open", "answer", '"yes"', "--db", "sqlite:///new.db")
    resumed = used.type("run", "--resume", "open", "--db", "sqlite:///new.db", "-o", "json")
    assert resumed.json()["outputs"][0]["output"] == "q yes calm"


def test_one_run_goes_through_a_pipe(used: Place) -> None:
    lines = used.type("db", "export", "open").stdout
    done = used.type("db", "import", "-", "--yes", "--db", "sqlite:///new.db", stdin=lines)
    assert done.code == 0, done.stderr
    assert ids(used, "--db", "sqlite:///new.db") == ["open"]
    assert used.type("db", "export", "nobody").code == 4


def test_runs_that_are_there_are_refused(used: Place) -> None:
    used.type("db", "export", "-O", "runs.jsonl")
    done = used.type("db", "import", "runs.jsonl", "--yes", "-o", "json")
    assert done.code == 5
    assert done.error()["flow_ids"] == ["done", "open"]


def test_what_is_no_export_is_refused(used: Place) -> None:
    used.write("notes.jsonl", "milk\n")
    done = used.type("db", "import", "notes.jsonl", "--yes")
    assert (done.code, "line 1" in done.stderr) == (1, True)
    assert used.type("db", "import", "nowhere.jsonl", "--yes").code == 2


def test_help_of_the_group_names_its_commands(place: Place) -> None:
    shown = place.type("db", "--help").stdout
    for command in ("upgrade", "status", "prune", "vacuum", "export", "import"):
        assert f"\n  {command} " in shown


def test_prune_takes_a_date_and_a_size_of_batches(used: Place) -> None:
    none = used.type("db", "prune", "--before", "2000-01-01", "--yes", "-o", "json").json()
    assert (none["runs"], none["before"]) == (0, "2000-01-01T00:00:00Z")
    done = used.type(
        "db", "prune", "--before", "2999-01-01T12:00+02:00", "--batch", "1", "--yes", "-o", "json"
    )
    assert done.json()["runs"] == 1
    assert ids(used) == ["open"]


@pytest.mark.parametrize(
    "words", [("--before", "yesterday"), ("--before", "2030-01-01", "--older-than", "1d"), ("--batch", "0")]
)
def test_prune_refuses_what_is_no_cut(used: Place, words: tuple[str, ...]) -> None:
    assert used.type("db", "prune", "--yes", *words).code == 2


def test_prune_after_is_another_name_of_retention(used: Place) -> None:
    assert used.type("worker", "--until-idle", "--prune-after", "soon").code == 2
    assert used.type("worker", "--until-idle", "--prune-after", "0s").code == 0
    assert ids(used) == ["open"]


def test_a_run_can_have_its_database_in_memory_but_nothing_can_be_left_there(place: Place) -> None:
    ran = place.type(
        "run", "flows/hello.flow.yaml", "--id", "a", "--input", '"Ada"', "-o", "json", "--db", "sqlite://"
    )
    assert ran.json()["status"] == "COMPLETED"
    started = place.type(
        "start", "flows/hello.flow.yaml", "--id", "a", "--input", '"Ada"', "--db", "sqlite://"
    )
    assert (started.code, "ends with this command" in started.stderr) == (2, True)
    assert place.type("list", "--db", "sqlite://").code == 4
    assert place.type("db", "upgrade", "--db", "sqlite://").code == 2
