"""Looking for work costs the same however much waits: statements go straight to their place in an index."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from orchestrator.store.opening import open_store
from orchestrator.store.postgres_url import read_url
from orchestrator.store.sql import PARAMETERS, STATEMENTS, read_sql
from tests.support import postgres

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


ON_POSTGRES: dict[str, tuple[object, ...]] = {
    "claim": (0, 2000, 5, 0, 10, 10, 7),
    "claim_except": (0, 2000, ["sha256:1"], 5, 0, ["sha256:1"], 10, 10, 7),
    "claim_timers": (0, 2000, 10, 7),
    "next_due_at": (0, 0),
    "next_due_at_except": (0, ["sha256:1"], 0, ["sha256:1"]),
    "next_timer_at": (0,),
    "oldest_due_at": (),
    "ready_queues": ([1, 2, 3], 2000),
    "leased_counts": ([1, 2, 3],),
}
"""Parameters of statements; rows that are ready are due at 1000, timers much later."""
FILLING = (
    "INSERT INTO runs SELECT g, 'f' || g, 1, 'r', 'F', 'h', NULL, 'RUNNING', 1, 1, 0, NULL, '', '', NULL "
    "FROM generate_series(1, 500) g",
    "INSERT INTO steps (run, execution_id, step, phase, attempt, due_at, is_lost, body, queue, turn) "
    "SELECT g % 500 + 1, 'B-' || g, 'B', 'execute', 1, 1000, 0, '', g % 2 * 3, g "
    "FROM generate_series(1, 10000) g",
    "INSERT INTO steps (run, execution_id, step, phase, attempt, due_at, is_lost, body) "
    "SELECT g % 500 + 1, 'T-' || g, 'T', 'waiting', 1, 1000000 + g, 0, '' FROM generate_series(1, 10000) g",
    "ANALYZE",
)


def test_on_postgres_no_look_for_work_reads_all_steps() -> None:
    statements = read_sql("postgres.sql")[1]
    with postgres.database() as url:
        open_store(url).close()
        address = read_url(url)
        with psycopg.connect(address.conninfo, autocommit=True) as connection:
            connection.execute(f'SET search_path TO "{address.schema}"'.encode())
            for filling in FILLING:
                connection.execute(filling.encode())
            for name, parameters in ON_POSTGRES.items():
                statement = statements[name].replace("orchestrator.", f'"{address.schema}".')
                rows = connection.execute(f"EXPLAIN {statement}".encode(), parameters).fetchall()
                plan = "\n".join(str(row[0]) for row in rows)
                assert "Seq Scan on steps" not in plan, f"{name}:\n{plan}"
