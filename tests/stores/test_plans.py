"""Looking for work costs the same however much waits: statements go straight to their place in an index."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.store.opening import open_store
from orchestrator.store.sql import PARAMETERS, STATEMENTS

PLANS = {
    "claim_due": "steps_claimable (queue=? AND due_at>? AND due_at<?)",
    "claim_due_except": "steps_claimable (queue=? AND due_at>? AND due_at<?)",
    "claim_in_turn": "steps_in_turn (queue=? AND turn>?)",
    "claim_in_turn_except": "steps_in_turn (queue=? AND turn>?)",
    "next_due_at": "steps_claimable (queue=? AND due_at>?)",
    "next_turn": "steps_in_turn (queue=? AND turn>?)",
    "oldest_due_at": "steps_claimable (queue=? AND due_at>?)",
}


@pytest.mark.parametrize("name", PLANS)
def test_work_is_found_by_an_index_in_its_order(name: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    open_store(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path)) as connection:
        parameters = [1] * len(PARAMETERS[name])
        rows = connection.execute(f"EXPLAIN QUERY PLAN {STATEMENTS[name]}", parameters).fetchall()
    details = [row[-1] for row in rows]
    assert any(PLANS[name] in each for each in details), details
    assert not any("SCAN steps" in each or "TEMP B-TREE" in each for each in details), details
