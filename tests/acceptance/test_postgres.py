"""The command line on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.command import Place
from tests.support import postgres


@pytest.fixture
def db() -> Iterator[str]:
    with postgres.database() as url:
        yield url


def test_a_run_goes_from_one_database_to_the_other_and_back(place: Place, db: str) -> None:
    on_postgres = {"ORCHESTRATOR_DB": db}
    ran = place.type("run", "flows/hello.flow.yaml", "--id", "done", "--input", '"Ada"', **on_postgres)
    assert ran.code == 0, ran.stderr
    assert (
        place.type("start", "flows/ask.flow.yaml", "--id", "open", "--input", '"q"', **on_postgres).code == 0
    )
    exported = place.type("db", "export", **on_postgres).stdout
    imported = place.type("db", "import", "-", "--yes", stdin=exported)
    assert imported.code == 0, imported.stderr
    back = place.type("db", "export").stdout
    assert back.splitlines()[1:] == exported.splitlines()[1:], "all but the time in the header"


def test_old_runs_are_deleted_and_their_space_given_back(place: Place, db: str) -> None:
    on_postgres = {"ORCHESTRATOR_DB": db}
    place.type("run", "flows/hello.flow.yaml", "--id", "done", "--input", '"Ada"', **on_postgres)
    assert place.type("db", "status", "-o", "json", **on_postgres).json()["runs"] == {"COMPLETED": 1}
    assert place.type("db", "prune", "--older-than", "0s", "--yes", **on_postgres).code == 0
    assert place.type("db", "vacuum", **on_postgres).code == 0
    assert place.type("list", "-o", "json", **on_postgres).json() == []
    assert place.type("db", "upgrade", **on_postgres).code == 0


def test_a_server_that_is_not_there_is_told_without_the_password(place: Place) -> None:
    done = place.type("list", ORCHESTRATOR_DB="postgresql://me:secret@127.0.0.1:1/db")
    assert done.code == 70
    assert "Connection refused" in done.stderr
    assert "secret" not in done.stderr + done.stdout


def test_looking_at_a_store_that_is_not_there_says_so_and_makes_none(place: Place, db: str) -> None:
    on_postgres = {"ORCHESTRATOR_DB": db}
    for command in (["list"], ["describe", "x"], ["db", "status"], ["publish", "x", "go", "1"]):
        done = place.type(*command, **on_postgres)
        assert done.code == 4, command
        assert "has no tables" in done.stderr
    assert place.type("db", "upgrade", "-o", "json", **on_postgres).json()["before"] == 0
    assert place.type("list", "-o", "json", **on_postgres).json() == []
