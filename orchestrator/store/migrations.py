"""How a database of an earlier release becomes one of this release, one schema version after the other.

What stands here is never changed once released: a database may be at any of these versions.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

SCHEMA_VERSION = 3
"""Of this release; `schema_version` has one row for each version a database has been at."""

SEED_PROJECTIONS = (
    "INSERT INTO sqlite_sequence (name, seq) "
    "VALUES ('projections', CAST(strftime('%s', 'now') AS INTEGER) * 1000000)"
)
"""Numbers start at the time of making: those of a database that replaces another one are higher than its."""

SQLITE: Mapping[int, tuple[str, ...]] = {
    2: (
        "UPDATE history SET body = msgpack_of_json(body)",
        "UPDATE steps SET body = msgpack_of_json(body)",
        "ALTER TABLE history ADD COLUMN event BLOB",
        "CREATE TABLE pauses (flow TEXT NOT NULL, step TEXT NOT NULL, paused_at BIGINT NOT NULL)",
        "CREATE UNIQUE INDEX pauses_identity ON pauses (flow, step)",
        "CREATE TABLE marks (name TEXT NOT NULL, value BIGINT NOT NULL)",
        "CREATE UNIQUE INDEX marks_identity ON marks (name)",
    ),
    3: (
        "CREATE TABLE projections (seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, sender BIGINT NOT NULL, "
        "flow_id TEXT NOT NULL, definition TEXT NOT NULL, body BLOB NOT NULL, worker BIGINT)",
        "CREATE INDEX projections_claimed ON projections (worker) WHERE worker IS NOT NULL",
        SEED_PROJECTIONS,
    ),
}
"""Statements that lead to a version from the one before it; they may call the functions below."""


def msgpack_of_json(body: bytes) -> bytes:
    return msgspec.msgpack.encode(msgspec.json.decode(body))


FUNCTIONS = {"msgpack_of_json": msgpack_of_json}

POSTGRES: Mapping[int, tuple[str, ...]] = {}
"""The same for PostgreSQL, which came with version 3; its schema is called `orchestrator` here."""
