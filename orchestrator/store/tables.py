"""The tables, defined once for every database.

Tables that carry payload are rowid tables with a unique index: a WITHOUT ROWID tree takes an overflow page
for every row over a quarter page. Times are integer microseconds since 1970, UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    literal_column,
)

METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")

schema_version = Table(
    "schema_version",
    METADATA,
    Column("version", Integer, primary_key=True),
    Column("installed_at", BigInteger, nullable=False),
)

definitions = Table(
    "definitions",
    METADATA,
    Column("hash", Text, primary_key=True),
    Column("flow", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
)

runs = Table(
    "runs",
    METADATA,
    Column("run", _NUMBER, primary_key=True, autoincrement=False),
    Column("flow_id", Text, nullable=False),
    Column("is_latest", SmallInteger, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("flow", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("request_id", Text),
    Column("status", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    Column("input", LargeBinary, nullable=False),
    Column("state", LargeBinary, nullable=False),
    Column("error", LargeBinary),
)
_is_latest = runs.c.is_latest == literal_column("1")
Index("runs_latest", runs.c.flow_id, unique=True, sqlite_where=_is_latest, postgresql_where=_is_latest)
Index("runs_newest", runs.c.started_at, runs.c.run, sqlite_where=_is_latest, postgresql_where=_is_latest)
Index("runs_by_flow", runs.c.flow, runs.c.started_at, runs.c.run)
Index("runs_by_status", runs.c.status, runs.c.started_at, runs.c.run)
_is_closed = runs.c.closed_at.is_not(None)
Index("runs_closed", runs.c.closed_at, sqlite_where=_is_closed, postgresql_where=_is_closed)

steps = Table(
    "steps",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("execution_id", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("due_at", BigInteger),
    Column("worker", BigInteger),
    Column("is_lost", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("queue", Integer, nullable=False, server_default=literal_column("0")),
    Column("turn", BigInteger),
)
"""`queue`: where a call of a handler waits (queues.py), 0 of those that stand in none; timers are in 0.

`turn`: the round in which work that was ready when it was written comes; null of what becomes due later, was
handed back, or is leased. Each row that can be claimed is in one of the two indexes for it.
"""
Index("steps_identity", steps.c.run, steps.c.execution_id, unique=True)
_unleased = steps.c.worker.is_(None)
_claimable = _unleased & steps.c.turn.is_(None) & steps.c.due_at.is_not(None)
Index("steps_claimable", steps.c.queue, steps.c.due_at, sqlite_where=_claimable, postgresql_where=_claimable)
_in_turn = _unleased & steps.c.turn.is_not(None)
Index("steps_in_turn", steps.c.queue, steps.c.turn, sqlite_where=_in_turn, postgresql_where=_in_turn)
_counted = steps.c.worker.is_not(None) & (steps.c.queue > literal_column("0"))
Index("steps_in_queues", steps.c.queue, sqlite_where=_counted, postgresql_where=_counted)

messages = Table(
    "messages",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("channel", Text, nullable=False),
    Column("key", Text),
    Column("value", LargeBinary, nullable=False),
)
Index("messages_identity", messages.c.run, messages.c.seq, unique=True)

attributes = Table(
    "attributes",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("is_map", SmallInteger, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", LargeBinary, nullable=False),
)
Index("attributes_identity", attributes.c.run, attributes.c.name, attributes.c.key, unique=True)

outputs = Table(
    "outputs",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("position", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
Index("outputs_identity", outputs.c.run, outputs.c.position, unique=True)

rounds = Table(
    "rounds",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("round", Text, nullable=False),
    Column("join", Text, nullable=False),
    Column("branch_count", Integer, nullable=False),
    Column("counting", Integer, nullable=False),
    Column("missed", Integer, nullable=False),
    Column("members", Integer, nullable=False),
    Column("is_cancelled", SmallInteger, nullable=False),
)
Index("rounds_identity", rounds.c.run, rounds.c.round, unique=True)

reports = Table(
    "reports",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("round", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("branch", Integer, nullable=False),
    Column("value", LargeBinary, nullable=False),
)
Index("reports_identity", reports.c.run, reports.c.round, reports.c.position, unique=True)

history = Table(
    "history",
    METADATA,
    Column("run", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("execution_id", Text),
    Column("body", LargeBinary, nullable=False),
    Column("event", LargeBinary),
)
"""`event`: what a client did, kept so that a time travel can do it again; else null."""
Index("history_identity", history.c.run, history.c.version, unique=True)

projections = Table(
    "projections",
    METADATA,
    Column("seq", _NUMBER, Identity(always=True), primary_key=True),
    Column("sender", BigInteger, nullable=False),
    Column("flow_id", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("worker", BigInteger),
    sqlite_autoincrement=True,
)
"""Values of synced attributes that an attribute store has not got yet, in commit order. `sender`: the run."""
_is_claimed = projections.c.worker.is_not(None)
Index("projections_claimed", projections.c.worker, sqlite_where=_is_claimed, postgresql_where=_is_claimed)

workers = Table(
    "workers",
    METADATA,
    Column("worker", _NUMBER, Identity(always=True), primary_key=True),
    Column("alive_until", BigInteger, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("process_started", Text, nullable=False),
    Column("serves", Text, nullable=False, server_default=literal_column("''")),
    sqlite_autoincrement=True,
)
"""`host` tells machines and their reboots apart, `process_started` one use of a process id from the next.

`serves`: queues, flow types and steps, separated by commas; empty: everything.
"""

pauses = Table(
    "pauses",
    METADATA,
    Column("flow", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("paused_at", BigInteger, nullable=False),
)
"""`step` empty: the whole flow type."""
Index("pauses_identity", pauses.c.flow, pauses.c.step, unique=True)

queues = Table(
    "queues",
    METADATA,
    Column("queue", _NUMBER, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("spent_until", BigInteger, nullable=False),
    sqlite_autoincrement=True,
)
"""`settings`: JSON (queues.py). `spent_until`: until when the rate is used up by attempts that were begun."""
Index("queues_identity", queues.c.name, unique=True)

marks = Table(
    "marks",
    METADATA,
    Column("name", Text, nullable=False),
    Column("value", BigInteger, nullable=False),
)
"""`pruned_run`: the highest run number that was ever pruned; numbers are never used again.

`objects:N`: run N was pruned, its objects (objects.py) are still to be deleted.
"""
Index("marks_identity", marks.c.name, unique=True)
