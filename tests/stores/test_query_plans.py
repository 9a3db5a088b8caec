"""No statement reads a whole table that grows with the work done, but for those named here with a reason."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.store.opening import open_store
from orchestrator.store.postgres_link import WAYS_OF_MANY, Dialect
from orchestrator.store.postgres_url import read_url
from orchestrator.store.sql import RUN_TABLES, STATEMENTS
from orchestrator.store.tables import METADATA
from tests.benchmarks.filling import fill
from tests.support import postgres

READ_WHOLE = {
    "all_runs": "an export of everything",
    "runs_of": "an export by flow id, of superseded runs too",
    "row_counts": "`db status` counts rows",
    "run_counts": "all runs are counted by status, from an index",
    "work_counts": "active steps only; for metrics",
    "calls": "active steps only; when the settings of queues change",
    "busy_in_queue": "active steps only; as `busy`",
    "busy": "active steps only; while a worker that is to stop when idle has nothing else to do",
    "release_lost": "active steps only; when a worker has died",
    "lock_runs_of_worker": "active steps only; when a worker has died",
}

READ_WHOLE_IN_POSTGRES = READ_WHOLE | dict.fromkeys(
    ("heads", "heads_of_flow", "heads_of_status"), "attributes, once, when a value is searched for"
)
OF_FEW = {
    index.name
    for table in METADATA.tables.values()
    for index in table.indexes
    if index.dialect_options["postgresql"]["where"] is not None
} - {"runs_latest", "runs_newest"}
"""Indexes of a few rows, or of which the first row is read only."""


def test_sqlite_finds_what_it_looks_for_by_an_index(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'plans.db'}").close()
    with closing(sqlite3.connect(tmp_path / "plans.db")) as connection:
        found = {name for name, sql in STATEMENTS.items() if whole_in_sqlite(connection, sql)}
    assert found == READ_WHOLE.keys() & STATEMENTS.keys()


def whole_in_sqlite(connection: sqlite3.Connection, sql: str) -> list[str]:
    """Tables of runs that are read from end to end."""
    plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (None,) * sql.count("?"))
    steps = [str(detail) for *_, detail in plan]
    return [step for step in steps if step.startswith("SCAN ") and step.split()[1] in RUN_TABLES]


def test_sqlite_pages_through_runs_without_sorting(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'plans.db'}").close()
    with closing(sqlite3.connect(tmp_path / "plans.db")) as connection:
        for name in ("heads", "heads_of_flow", "heads_of_status", "prunable_runs"):
            sql = STATEMENTS[name]
            plan = str(connection.execute(f"EXPLAIN QUERY PLAN {sql}", (None,) * sql.count("?")).fetchall())
            assert "TEMP B-TREE" not in plan, plan


def test_postgres_can_find_what_it_looks_for_by_an_index() -> None:
    with postgres.database() as url:
        fill(url, closed_count=5000, parked_count=2000)
        address = read_url(url)
        statements = Dialect(address.schema).statements
        with psycopg.connect(address.conninfo, autocommit=True) as connection:
            for way in (b"seqscan", b"hashjoin", b"mergejoin"):  # the best ones where tables are small
                connection.execute(b"SET enable_%s TO off" % way)
            found = {name for name, each in statements.items() if whole_in_postgres(connection, each.text)}
    assert found == READ_WHOLE_IN_POSTGRES.keys() & statements.keys()


def test_postgres_does_so_with_plans_that_were_made_while_nothing_was_there() -> None:
    """It keeps them, whatever has come since."""
    with postgres.database() as url:
        open_store(url).close()
        address = read_url(url)
        statements = Dialect(address.schema).statements
        with psycopg.connect(address.conninfo, autocommit=True) as connection:
            assert whole_in_postgres(connection, statements["find_latest"].text) == []
            for way in WAYS_OF_MANY:
                connection.execute(f"SET {way} TO off".encode())
            found = {name for name, each in statements.items() if whole_in_postgres(connection, each.text)}
    assert found <= READ_WHOLE_IN_POSTGRES.keys()


@pytest.mark.parametrize(("closed_count", "parked_count"), [(0, 1), (5, 5), (20, 2)])
def test_postgres_does_so_with_plans_that_were_made_when_there_were_a_few_rows(
    closed_count: int, parked_count: int
) -> None:
    """Then it is as cheap to read a table from end to end, and by the time it knows better it has grown."""
    with postgres.database() as url:
        fill(url, closed_count=closed_count, parked_count=parked_count)
        address = read_url(url)
        statements = Dialect(address.schema).statements
        with psycopg.connect(address.conninfo, autocommit=True) as connection:
            connection.execute("ANALYZE")
            for way in WAYS_OF_MANY:
                connection.execute(f"SET {way} TO off".encode())
            found = {name for name, each in statements.items() if whole_in_postgres(connection, each.text)}
    assert found <= READ_WHOLE_IN_POSTGRES.keys()


def whole_in_postgres(connection: psycopg.Connection, sql: bytes) -> list[str]:
    """Tables of runs that are read from end to end, with a plan that does for all parameters."""
    ((explained,),) = connection.execute(b"EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + sql).fetchall()
    return [node["Relation Name"] for node in nodes_of(explained[0]["Plan"]) if is_read_whole(node)]


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes_of(part)


def is_read_whole(node: dict[str, Any]) -> bool:
    if node.get("Relation Name") not in RUN_TABLES or "Scan" not in node["Node Type"]:
        return False
    if node.get("Index Name") in OF_FEW:
        return False
    return "Index Cond" not in node and "Recheck Cond" not in node
