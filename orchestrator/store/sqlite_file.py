"""The SQLite file itself: is it ours, is it of this release, and how it becomes so."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import NamedTuple

from orchestrator.errors import StoreError
from orchestrator.store.migrations import FUNCTIONS, SCHEMA_VERSION, SEED_PROJECTIONS, SQLITE
from orchestrator.store.sql import SCHEMA, STATEMENTS
from orchestrator.store.times import to_micros

_APPLICATION_ID = 0x0F10C4A7
"""Marks our files (`PRAGMA application_id`)."""
_BUSY_SECONDS = 30.0


class Upgrade(NamedTuple):
    before: int
    """0: there was no database."""
    after: int


def connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def install(connection: sqlite3.Connection, path: str, *, upgrades: bool = False) -> Upgrade:
    """Check that the file is ours and of this release; make the tables in a new one."""
    application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application_id == 0 and is_empty:
        connection.execute("PRAGMA journal_mode=WAL")
        statements = (f"PRAGMA application_id={_APPLICATION_ID}", *SCHEMA, SEED_PROJECTIONS)
        _commit(connection, statements, SCHEMA_VERSION)
        return Upgrade(0, SCHEMA_VERSION)
    if application_id != _APPLICATION_ID:
        raise StoreError(
            f"{path} is a SQLite database of another program; name another file with --db", path=path
        )
    version: int = connection.execute(STATEMENTS["installed_version"]).fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema version {version}, this release knows {SCHEMA_VERSION}; "
            "use a newer release of orchestrator",
            path=path,
        )
    if version < SCHEMA_VERSION and not upgrades:
        raise StoreError(
            f"{path} has schema version {version}, this release needs {SCHEMA_VERSION}; "
            f"stop its workers and run: orchestrator db upgrade --db sqlite:///{path}",
            path=path,
        )
    for name, function in FUNCTIONS.items():
        connection.create_function(name, 1, function, deterministic=True)
    for number in range(version + 1, SCHEMA_VERSION + 1):
        _commit(connection, SQLITE[number], number)
    return Upgrade(version, SCHEMA_VERSION)


def _commit(connection: sqlite3.Connection, statements: tuple[str, ...], version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements:
            connection.execute(statement)
        installed_at = to_micros(datetime.now(UTC))
        connection.execute(STATEMENTS["insert_schema_version"], (version, installed_at))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def explain(error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text:
        return "this file is not a SQLite database; name another file with --db"
    if "unable to open" in text:
        return "cannot be opened; does its directory exist, and may you write there?"
    if "readonly" in text:
        return "cannot be written; check the permissions of the file and its directory"
    if "locked" in text:
        return "another program has held it locked for too long"
    return text
