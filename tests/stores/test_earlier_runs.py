"""Runs that an earlier release left in its store go on in this one, whatever their rows looked like then."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.store.opening import upgrade_store
from tests.support.earlier_runs import EARLIER, ENDS, go_on
from tests.support.engine_kit import Kit


@pytest.fixture(params=sorted(path.stem for path in EARLIER.glob("*.sql")))
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kit]:
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((EARLIER / f"{request.param}.sql").read_text(encoding="utf-8"))
        connection.execute("PRAGMA application_id=0x0F10C4A7")
        connection.execute("PRAGMA journal_mode=WAL")
    upgrade_store(f"sqlite:///{path}")
    kit = Kit(tmp_path)
    yield kit
    kit.close()


def test_their_history_and_their_rows_say_the_same(kit: Kit) -> None:
    assert {run["flow_id"] for run in kit.client.search()} > set(ENDS)
    assert kit.differing_replays() == []


def test_they_go_on_to_their_ends(kit: Kit) -> None:
    go_on(kit)
    for flow_id, (status, output) in ENDS.items():
        run = kit.client.describe(flow_id)
        outputs = [each["output"] for each in run["outputs"]]
        assert (flow_id, run["status"], outputs) == (flow_id, status, [output] if output is not None else [])
    assert (kit.differences, kit.differing_replays()) == ([], [])
