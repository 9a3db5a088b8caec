"""The SQLite file itself: is it ours, is it of this release, and how it becomes so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from orchestrator.errors import StoreError
from orchestrator.store.absence import absent
from orchestrator.store.migrations import SCHEMA_VERSION, SEED_PROJECTIONS
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


def install(
    connection: sqlite3.Connection,
    path: str,
    *,
    upgrades: bool = False,
    is_forced: bool = False,
    makes: bool = True,
) -> Upgrade:
    """Check that the file is ours and of this release; make the tables in a new one, if it `makes` any.

    `is_forced`: upgrade although workers seem to be alive.

    Raises StoreError, and NotFound where there are none.
    """
    version = _installed(connection, path)
    if version == 0:
        if not makes:
            raise absent(f"there are no runs in {path}", path)
        connection.execute("PRAGMA journal_mode=WAL")
        version = _make(connection, path)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema version {version}, this release knows {SCHEMA_VERSION}; "
            "use a newer release of orchestrator",
            path=path,
        )
    if 0 < version < SCHEMA_VERSION and not upgrades:
        raise StoreError(
            f"{path} has schema version {version}, this release needs {SCHEMA_VERSION}; "
            f"stop its workers and run: orchestrator db upgrade --db sqlite:///{path}",
            path=path,
        )
    if 0 < version < SCHEMA_VERSION:
        version = _upgrade(connection, path, is_forced=is_forced)
    return Upgrade(version, SCHEMA_VERSION)


def _installed(connection: sqlite3.Connection, path: str) -> int:
    """0: the file is empty. Raises StoreError for one that is not ours."""
    application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application_id == _APPLICATION_ID:
        version: int = connection.execute(STATEMENTS["installed_version"]).fetchone()[0]
        return version
    if application_id != 0 or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(
            f"{path} is a SQLite database of another program; name another file with --db", path=path
        )
    return 0


def _make(connection: sqlite3.Connection, path: str) -> int:
    """The version that was there: somebody else may have been first."""
    with _writing(connection):
        version = _installed(connection, path)
        if version == 0:
            for statement in (f"PRAGMA application_id={_APPLICATION_ID}", *SCHEMA, SEED_PROJECTIONS):
                connection.execute(statement)
            _note(connection, SCHEMA_VERSION)
        return version


def _upgrade(connection: sqlite3.Connection, path: str, *, is_forced: bool) -> int:
    """All in one transaction. The version that was there: somebody else may have been first."""
    from orchestrator.store.migrations.running import revisions_on

    with revisions_on(connection, "sqlite://") as revisions, _writing(connection):
        before = _installed(connection, path)
        if before < SCHEMA_VERSION and not is_forced:
            revisions.demand_rest(path)
        for version in revisions.run(before, SCHEMA_VERSION):
            _note(connection, version)
        return before


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _note(connection: sqlite3.Connection, version: int) -> None:
    connection.execute(STATEMENTS["insert_schema_version"], (version, to_micros(datetime.now(UTC))))


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
