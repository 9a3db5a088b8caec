"""The least that a durable SQL engine does for a step.

One transaction that updates the run's row under its version and inserts one history row, through SQLAlchemy
Core with statements built once, on SQLite with WAL and `synchronous=FULL` or on PostgreSQL as it comes; or
the steps of 100 runs in one.
"""

from __future__ import annotations

import json
import queue
import random
import sqlite3
import threading
import time
from typing import Any

import psycopg
import sqlalchemy as sa

from orchestrator.store.postgres_url import is_postgres, read_url
from tests.benchmarks.measure import Line, in_milliseconds, percentile, resident_kilobytes

_metadata = sa.MetaData()
_runs = sa.Table(
    "runs",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text),
    sa.Column("status", sa.Text),
    sa.Column("version", sa.Integer),
    sa.Column("state", sa.Text),
)
_history = sa.Table(
    "history",
    _metadata,
    sa.Column("run", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("at", sa.Float),
    sqlite_with_rowid=False,
)
_insert_run, _insert_history = sa.insert(_runs), sa.insert(_history)
_update_run = (
    sa.update(_runs)
    .where(_runs.c.id == sa.bindparam("run"), _runs.c.version == sa.bindparam("was"))
    .values(version=sa.bindparam("becomes"), state=sa.bindparam("new_state"))
)


def _open(path: str) -> sa.Engine:
    if is_postgres(path):
        return _open_postgres(path)
    engine = sa.create_engine(f"sqlite:///{path}")

    @sa.event.listens_for(engine, "connect")
    def _(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        connection.isolation_level = None

    @sa.event.listens_for(engine, "begin")
    def _(connection: sa.Connection) -> None:
        connection.exec_driver_sql("begin immediate")

    _metadata.create_all(engine)
    return engine


def _open_postgres(url: str) -> sa.Engine:
    address = read_url(url)
    options = f"-c search_path={address.schema}"
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(address.conninfo, options=options)
    )
    with engine.begin() as connection:
        connection.execute(sa.schema.CreateSchema(address.schema))
    _metadata.create_all(engine)
    return engine


def _new(run: int) -> dict[str, Any]:
    return {"id": run, "name": "bench", "status": "run", "version": 0, "state": "{}"}


def _updated(run: int, step: int) -> dict[str, Any]:
    return {"run": run, "was": step, "becomes": step + 1, "new_state": json.dumps({"position": step})}


def _row(run: int, step: int) -> dict[str, Any]:
    return {
        "run": run,
        "version": step,
        "kind": "step",
        "body": json.dumps({"result": step}),
        "at": time.time(),
    }


def one_at_a_time(path: str, flow_count: int) -> Line:
    engine = _open(path)
    started = time.perf_counter()
    for run in range(flow_count):
        with engine.begin() as connection:
            connection.execute(_insert_run, _new(run))
        for step in range(10):
            with engine.begin() as connection:
                connection.execute(_update_run, _updated(run, step))
                connection.execute(_insert_history, _row(run, step))
    seconds = time.perf_counter() - started
    engine.dispose()
    return {"steps_s": round(10 * flow_count / seconds, 1)}


def in_batches(path: str, flow_count: int) -> Line:
    engine = _open(path)
    started = time.perf_counter()
    for first in range(0, flow_count, 100):
        runs = range(first, first + 100)
        with engine.begin() as connection:
            connection.execute(_insert_run, [_new(run) for run in runs])
        for step in range(10):
            with engine.begin() as connection:
                connection.execute(_update_run, [_updated(run, step) for run in runs])
                connection.execute(_insert_history, [_row(run, step) for run in runs])
    seconds = time.perf_counter() - started
    engine.dispose()
    return {"steps_s": round(10 * flow_count / seconds, 1)}


def long_run(path: str, step_count: int) -> Line:
    engine = _open(path)
    spans = []
    with engine.begin() as connection:
        connection.execute(_insert_run, _new(1))
    for step in range(step_count):
        started = time.perf_counter()
        with engine.begin() as connection:
            connection.execute(_update_run, _updated(1, step))
            connection.execute(_insert_history, _row(1, step))
        spans.append(time.perf_counter() - started)
    engine.dispose()
    return {"slowdown": round(percentile(spans[-20:], 0.5) / percentile(spans[5:25], 0.5), 2)}


def fan_out(path: str, branch_count: int) -> Line:
    """The results of branches of one run, 100 in a commit."""
    engine = _open(path)
    started = time.perf_counter()
    with engine.begin() as connection:
        connection.execute(_insert_run, _new(1))
    for number, first in enumerate(range(0, branch_count, 100)):
        with engine.begin() as connection:
            connection.execute(_insert_history, [_row(1, step) for step in range(first, first + 100)])
            connection.execute(_update_run, _updated(1, number))
    seconds = time.perf_counter() - started
    engine.dispose()
    return {"branches_s": round(branch_count / seconds, 1)}


def message(path: str, count: int) -> Line:
    """One commit of the sender, and the thread that it wakes reads the run's row."""
    engine = _open(path)
    with engine.begin() as connection:
        connection.execute(_insert_run, [_new(run) for run in range(count)])
    read_run = sa.select(_runs).where(_runs.c.id == sa.bindparam("run"))
    woken: queue.SimpleQueue[tuple[int, float]] = queue.SimpleQueue()
    spans: list[float] = []

    def receive() -> None:
        for _ in range(count):
            run, sent_at = woken.get()
            with engine.connect() as connection:
                connection.execute(read_run, {"run": run}).one()
            spans.append(time.perf_counter() - sent_at)

    receiver = threading.Thread(target=receive)
    receiver.start()
    for run in range(count):
        time.sleep(random.uniform(0.002, 0.006))
        sent_at = time.perf_counter()
        with engine.begin() as connection:
            connection.execute(_insert_history, _row(run, 0))
        woken.put((run, sent_at))
    receiver.join()
    engine.dispose()
    return {
        "p50_ms": in_milliseconds(percentile(spans, 0.5)),
        "p99_ms": in_milliseconds(percentile(spans, 0.99)),
    }


def parked(path: str, run_count: int) -> Line:
    """A parked run is two rows; to go on with it is a row and a changed one."""
    engine = _open(path)
    before, started = resident_kilobytes(), time.perf_counter()
    for run in range(run_count):
        with engine.begin() as connection:
            connection.execute(_insert_run, _new(run))
            connection.execute(_insert_history, _row(run, 0))
    create_seconds, kilobytes = time.perf_counter() - started, resident_kilobytes() - before
    started = time.perf_counter()
    for run in range(run_count):
        with engine.begin() as connection:
            connection.execute(_insert_history, _row(run, 1))
            connection.execute(_update_run, _updated(run, 0))
    resume_seconds = time.perf_counter() - started
    engine.dispose()
    return {
        "creates_s": round(run_count / create_seconds, 1),
        "resumes_s": round(run_count / resume_seconds, 1),
        "kb_per_run": round(kilobytes / run_count, 2),
    }
