"""A store with very many closed runs, quickly: rows of one real run, repeated inside the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

import psycopg

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.store.postgres_url import is_postgres, read_url
from orchestrator.store.sql import COLUMNS, RUN_TABLES
from tests.benchmarks import flows

_FAILED_SHARE = 100
"""One run of so many has failed."""
CUSTOMER_COUNT = 1000
_KEPT_OF_ID = 24
"""Characters of a UUID before its last group."""


class Repetition(NamedTuple):
    """`size` runs like `template`, called `name`-1 and so on, with the numbers that follow `after`."""

    template: int
    name: str
    size: int
    after: int


def fill(path: str, closed_count: int, parked_count: int) -> None:
    """`ticket-N` are closed, `parked-N` wait for one message and have another.

    Their numbers, ids and times are their own.
    """
    engine = Engine(path)
    client = Client(engine)
    with Worker(engine):
        parked = client.start(flows.parked(), "parked-0").run
        client.publish("parked-0", "later", 1)
        closed = client.start(flows.ticket(), "ticket-0", attributes={"customer": "c0"}).run
        client.wait("ticket-0")
    engine.close()
    repetitions = (
        Repetition(closed, "ticket", closed_count, closed),
        Repetition(parked, "parked", parked_count, closed + closed_count),
    )
    if is_postgres(path):
        _repeat_in_postgres(path, repetitions)
    else:
        _repeat_in_sqlite(path, repetitions)


def _repeat_in_sqlite(path: str, repetitions: Iterable[Repetition]) -> None:
    connection = sqlite3.connect(path.removeprefix("sqlite:///"))
    connection.execute("PRAGMA synchronous=OFF")
    for each in repetitions:
        numbers = f"WITH RECURSIVE v(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM v WHERE n < {each.size})"
        for table in RUN_TABLES:
            names, values = _columns(table, each, "CAST({} AS BLOB)")
            connection.execute(
                f"INSERT INTO {table} ({names}) {numbers} SELECT {values} FROM v, {table} t "
                f"WHERE t.run = {each.template} ORDER BY v.n, t.rowid"
            )
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _repeat_in_postgres(url: str, repetitions: Iterable[Repetition]) -> None:
    address = read_url(url)
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{address.schema}"'.encode())
        for each in repetitions:
            for table in RUN_TABLES:
                names, values = _columns(table, each, "convert_to({}, 'UTF8')")
                connection.execute(
                    f"INSERT INTO {table} ({names}) SELECT {values} "
                    f"FROM generate_series(1, {each.size}) v(n), {table} t "
                    f"WHERE t.run = {each.template}".encode()
                )
        connection.execute(b"SELECT setval('run_numbers', (SELECT max(run) FROM runs))")
        connection.execute(b"VACUUM ANALYZE")


def _columns(table: str, of: Repetition, as_bytes: str) -> tuple[str, str]:
    """Names, and what becomes of the row `t` in its repetition number `v.n`."""
    columns = COLUMNS[table]
    values = [str(of.after) + " + v.n", *(_value(table, each, of, as_bytes) for each in columns)]
    return ", ".join(("run", *(f'"{each}"' for each in columns))), ", ".join(values)


def _value(table: str, column: str, of: Repetition, as_bytes: str) -> str:
    started_at = "t.started_at / 1000000 * 1000000 + 1000 + v.n"  # few of them are whole seconds
    made = {
        ("runs", "flow_id"): f"'{of.name}-' || v.n",
        ("runs", "run_id"): f"substr(t.run_id, 1, {_KEPT_OF_ID}) || (100000000000 + v.n)",
        ("runs", "status"): f"CASE WHEN v.n % {_FAILED_SHARE} = 0 AND t.closed_at IS NOT NULL "
        "THEN 'FAILED' ELSE t.status END",
        ("runs", "started_at"): started_at,
        ("runs", "closed_at"): f"{started_at} + t.closed_at - t.started_at",
        ("attributes", "value"): as_bytes.format(f"""'"c' || (v.n % {CUSTOMER_COUNT}) || '"'"""),
    }
    return made.get((table, column), f't."{column}"')
