"""Kill a process at every commit, before and after it is durable: what comes of the run is what it should."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from orchestrator.store.postgres_url import is_postgres, read_url
from tests.crash.cases import CASES, ROOT, Case
from tests.support import postgres

MOMENTS = ["before", "after"]
BY_NAME = {case.name: case for case in CASES}
EVERYTHING = "ORCHESTRATOR_TEST_CRASHES"
"""Set: every flow is killed everywhere on PostgreSQL too, not only those named here."""
KILLED_ON_POSTGRES = ("join", "subflow", "rpc", "locks")
TAKEN_OVER_ON_POSTGRES = ("join", "locks")
_numbers = itertools.count(1)


def on_stores(on_postgres: tuple[str, ...]) -> list[tuple[str, str]]:
    """Flow and store of each test."""
    on_postgres = tuple(BY_NAME) if EVERYTHING in os.environ else on_postgres
    return [*((name, "sqlite") for name in BY_NAME), *((name, "postgres") for name in on_postgres)]


class Host:
    """The process of host.py."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors
        with errors.open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.host"],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def kill_everywhere(
        self, case: Case, place: Place, fault: str, company: str = "later"
    ) -> list[dict[str, Any]]:
        asked = {"case": case.name, "directory": str(place.directory), "store": place.store}
        asked |= {"fault": fault, "company": company}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self.errors()
        trials: list[dict[str, Any]] = json.loads(answer)
        return trials

    def errors(self) -> str:
        return self._errors.read_text()[-4000:]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(100)
        self._process.stdout.close()


class Place(NamedTuple):
    """Where the trials of one test are; `{number}` in `store` is that of a trial."""

    store: str
    directory: Path

    def ask(self, number: int, sql: str) -> list[Any]:
        """The database of one trial."""
        url = self.store.format(number=number)
        with closing(_connect(url)) as connection:
            return [tuple(row) for row in connection.execute(sql).fetchall()]


def _connect(url: str) -> Any:
    return psycopg.connect(read_url(url).conninfo) if is_postgres(url) else sqlite3.connect(url)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host") / "stderr")
    yield host
    host.close()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if getattr(request, "param", "sqlite") == "sqlite":
        yield Place(str(tmp_path / "{number}.db"), tmp_path)
    else:
        prefix = f"crash_{os.getpid()}_{next(_numbers)}_"
        yield Place(postgres.schema_url(prefix + "{number}"), tmp_path)
        _drop_schemas(prefix)


def _drop_schemas(prefix: str) -> None:
    with psycopg.connect(postgres.server_url(), autocommit=True) as connection:
        found = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [prefix]
        )
        for (name,) in found.fetchall():
            connection.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))


def check(case: Case, place: Place, trials: list[dict[str, Any]], host: Host) -> None:
    for trial in trials:
        number = trial["number"]
        about = f"{case.name}, killed at {number}"
        assert not trial["trouble"], f"{about}: {trial['trouble']}\n{host.errors()}"
        run = json.loads((place.directory / f"{number}.run").read_text())
        assert run["status"] == "COMPLETED", (about, run["error"])
        assert outcome(run) == case.output, about
        check_rows(partial(place.ask, number), case)


def outcome(run: dict[str, Any]) -> Any:
    (output,) = [each["output"] for each in run["outputs"]]
    if run["flow"] == "ContractEditFlow":
        assert len(output) == 4, "one record for each edit"
        return {record["reviewer"]: record["outcome"] for record in output}
    return output


def check_rows(ask: Callable[[str], list[Any]], case: Case) -> None:
    """Nothing is half-done: every run closed, its history without gaps, no step, no lease, no worker left."""
    assert ask("SELECT flow_id FROM runs WHERE status != 'COMPLETED' OR is_latest = 0") == []
    assert ask("SELECT * FROM steps") == ask("SELECT * FROM workers") == []
    assert len(ask("SELECT * FROM messages")) == case.unread_count
    assert ask("SELECT count(*) FROM runs") == [(case.run_count,)]
    assert ask("SELECT count(*) FROM projections") == [(0,)]
    versions: dict[int, list[int]] = {}
    for run, version in ask("SELECT run, version FROM history ORDER BY run, version"):
        versions.setdefault(run, []).append(version)
    assert {run: found[-1] for run, found in versions.items()} == dict(ask("SELECT run, version FROM runs"))
    assert all(found == list(range(1, len(found) + 1)) for found in versions.values())


@pytest.mark.rule(159)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("name", "place"), on_stores(KILLED_ON_POSTGRES), indirect=["place"])
def test_a_run_killed_at_any_commit_ends_as_if_nothing_had_been(
    host: Host, place: Place, name: str, moment: str
) -> None:
    case = BY_NAME[name]
    trials = host.kill_everywhere(case, place, f"commit:%d:{moment}")
    assert sum(trial["is_killed"] for trial in trials) >= case.least_commits
    check(case, place, trials, host)


@pytest.mark.rule(156)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "place"), on_stores(TAKEN_OVER_ON_POSTGRES), indirect=["place"])
def test_a_worker_that_shares_the_work_takes_over_from_one_that_is_killed(
    host: Host, place: Place, name: str
) -> None:
    trials = host.kill_everywhere(BY_NAME[name], place, "commit:%d:before", "beside")
    assert any(trial["is_killed"] for trial in trials)
    check(BY_NAME[name], place, trials, host)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_worker_killed_while_it_signs_on_or_off_leaves_nothing_behind(
    host: Host, place: Place, moment: str
) -> None:
    case = BY_NAME["join"]
    trials = host.kill_everywhere(case, place, f"lease:%d:{moment}")
    assert sum(trial["is_killed"] for trial in trials) >= 2
    check(case, place, trials, host)


@pytest.mark.rule(115)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_synced_attributes_survive_the_one_who_carries_them(host: Host, place: Place, moment: str) -> None:
    case = BY_NAME["attribute map"]
    trials = host.kill_everywhere(case, place, f"projection:%d:{moment}")
    assert any(trial["is_killed"] for trial in trials)
    check(case, place, trials, host)
    for trial in trials:
        carried = place.directory / f"{trial['number']}.attributes"
        with closing(sqlite3.connect(carried)) as connection:
            ((progress,),) = connection.execute("SELECT progress FROM AttributeMap").fetchall()
        assert json.loads(progress) == case.output
