"""Kill a process at every commit, before and after it is durable: what comes of the run is what it should."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crash.cases import CASES, ROOT, Case

MOMENTS = ["before", "after"]
BY_NAME = {case.name: case for case in CASES}


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
        self, case: Case, directory: Path, fault: str, company: str = "later"
    ) -> list[dict[str, Any]]:
        asked = {"case": case.name, "directory": str(directory), "fault": fault, "company": company}
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


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host") / "stderr")
    yield host
    host.close()


def check(case: Case, directory: Path, trials: list[dict[str, Any]], host: Host) -> None:
    for trial in trials:
        about = f"{case.name}, killed at {trial['number']}"
        assert not trial["trouble"], f"{about}: {trial['trouble']}\n{host.errors()}"
        database = directory / f"{trial['number']}.db"
        run = json.loads(database.with_suffix(".run").read_text())
        assert run["status"] == "COMPLETED", (about, run["error"])
        assert outcome(run) == case.output, about
        check_rows(database, case)


def outcome(run: dict[str, Any]) -> Any:
    (output,) = [each["output"] for each in run["outputs"]]
    if run["flow"] == "ContractEditFlow":
        assert len(output) == 4, "one record for each edit"
        return {record["reviewer"]: record["outcome"] for record in output}
    return output


def check_rows(database: Path, case: Case) -> None:
    """Nothing is half-done: every run closed, its history without gaps, no step, no lease, no worker left."""
    with closing(sqlite3.connect(database)) as connection:

        def ask(sql: str) -> list[Any]:
            return connection.execute(sql).fetchall()

        assert ask("SELECT flow_id FROM runs WHERE status != 'COMPLETED' OR is_latest = 0") == []
        assert ask("SELECT * FROM steps") == ask("SELECT * FROM workers") == []
        assert len(ask("SELECT * FROM messages")) == case.unread_count
        assert ask("SELECT count(*) FROM runs") == [(case.run_count,)]
        assert ask("SELECT count(*) FROM projections") == [(0,)]
        versions: dict[int, list[int]] = {}
        for run, version in ask("SELECT run, version FROM history ORDER BY run, version"):
            versions.setdefault(run, []).append(version)
        assert {run: found[-1] for run, found in versions.items()} == dict(
            ask("SELECT run, version FROM runs")
        )
        assert all(found == list(range(1, len(found) + 1)) for found in versions.values())


@pytest.mark.rule(159)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_run_killed_at_any_commit_ends_as_if_nothing_had_been(
    host: Host, tmp_path: Path, name: str, moment: str
) -> None:
    case = BY_NAME[name]
    trials = host.kill_everywhere(case, tmp_path, f"commit:%d:{moment}")
    assert sum(trial["is_killed"] for trial in trials) >= case.least_commits
    check(case, tmp_path, trials, host)


@pytest.mark.rule(156)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_worker_that_shares_the_work_takes_over_from_one_that_is_killed(
    host: Host, tmp_path: Path, name: str
) -> None:
    trials = host.kill_everywhere(BY_NAME[name], tmp_path, "commit:%d:before", "beside")
    assert any(trial["is_killed"] for trial in trials)
    check(BY_NAME[name], tmp_path, trials, host)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_killed_while_it_signs_on_or_off_leaves_nothing_behind(
    host: Host, tmp_path: Path, moment: str
) -> None:
    case = BY_NAME["join"]
    trials = host.kill_everywhere(case, tmp_path, f"lease:%d:{moment}")
    assert sum(trial["is_killed"] for trial in trials) >= 2
    check(case, tmp_path, trials, host)


@pytest.mark.rule(115)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS)
def test_synced_attributes_survive_the_one_who_carries_them(host: Host, tmp_path: Path, moment: str) -> None:
    case = BY_NAME["attribute map"]
    trials = host.kill_everywhere(case, tmp_path, f"projection:%d:{moment}")
    assert any(trial["is_killed"] for trial in trials)
    check(case, tmp_path, trials, host)
    for trial in trials:
        with closing(sqlite3.connect(tmp_path / f"{trial['number']}.attributes")) as connection:
            ((progress,),) = connection.execute("SELECT progress FROM AttributeMap").fetchall()
        assert json.loads(progress) == case.output
