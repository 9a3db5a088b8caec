"""Kill the process at every commit, before and after it is durable: the resumed run ends as it should."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MOST_COMMITS = 60


def work(database: Path, fault: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ORCHESTRATOR_FAULT": fault}
    command = [sys.executable, "-m", "tests.crash.contract_edit_run", str(database)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def check(run: dict[str, Any], database: Path) -> None:
    """One record per edit, no edit beside another, exactly one token left, nothing half-done."""
    assert run["status"] == "COMPLETED"
    (output,) = run["outputs"]
    records = {record["reviewer"]: record for record in output["output"]}
    assert len(output["output"]) == 4
    assert {name: record["outcome"] for name, record in records.items()} == {
        "Ada": "saved",
        "Ben": "withdrawn",
        "Chloe": "failed",
        "Dev": "failed",
    }
    assert run["channels"] == {"contractEditToken": {"size": 1}, "contractEditFinished": {"size": 0}}
    connection = sqlite3.connect(database)
    assert connection.execute("SELECT count(*) FROM steps").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM workers").fetchone() == (0,)
    versions = [version for (version,) in connection.execute("SELECT version FROM history ORDER BY version")]
    assert versions == list(range(1, len(versions) + 1))
    assert connection.execute("SELECT version FROM runs").fetchone() == (len(versions),)
    connection.close()


@pytest.mark.rule(159)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_killed_at_any_commit_ends_as_if_nothing_had_been(tmp_path: Path, moment: str) -> None:
    for number in range(1, MOST_COMMITS):
        database = tmp_path / f"{moment}-{number}.db"
        died = work(database, f"commit:{number}:{moment}")
        if died.returncode == 0:
            assert number > 5, "the process made fewer commits than the flow needs"
            check(json.loads(died.stdout), database)
            return
        assert died.returncode == -signal.SIGKILL, died.stderr
        resumed = work(database)
        assert resumed.returncode == 0, f"after {moment} commit {number}: {resumed.stderr}"
        check(json.loads(resumed.stdout), database)
    pytest.fail("the process never finished")


@pytest.mark.parametrize("fault", ["lease:1:before", "lease:1:after", "lease:2:before", "lease:2:after"])
def test_a_worker_killed_while_it_signs_on_or_off_leaves_nothing_behind(tmp_path: Path, fault: str) -> None:
    database = tmp_path / "runs.db"
    died = work(database, fault)
    assert died.returncode == -signal.SIGKILL, died.stderr
    resumed = work(database)
    assert resumed.returncode == 0, resumed.stderr
    check(json.loads(resumed.stdout), database)
