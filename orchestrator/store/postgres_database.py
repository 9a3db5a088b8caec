"""The database itself: are our tables there, are they of this release, and how they come to be."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from orchestrator.errors import StoreError
from orchestrator.store.migrations import POSTGRES, SCHEMA_VERSION
from orchestrator.store.postgres_link import Dialect, Link
from orchestrator.store.times import to_micros


def demand_release(link: Link, dialect: Dialect, place: str, *, upgrades: bool = False) -> tuple[int, int]:
    """Make the tables where there are none; schema version before (0: there were none) and after.

    Raises StoreError for tables of another release.
    """
    if _installed(link, dialect) == SCHEMA_VERSION:
        return SCHEMA_VERSION, SCHEMA_VERSION
    link.defer_text("BEGIN")
    try:
        link.all("lock_schema", f"{dialect.schema}.schema")  # somebody else may be making them just now
        version = _installed(link, dialect)
        _bring_up(link, dialect, version, place, upgrades=upgrades)
        link.defer_text("COMMIT")
        link.flush()
    except BaseException:
        link.forget()
        if not link.is_broken:
            link.execute("ROLLBACK")
        raise
    return version, SCHEMA_VERSION


def _bring_up(link: Link, dialect: Dialect, version: int, place: str, *, upgrades: bool) -> None:
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{place} has schema version {version}, this release knows {SCHEMA_VERSION}; "
            "use a newer release of orchestrator"
        )
    if version == 0:
        _install(link, dialect)
        return
    if version < SCHEMA_VERSION and not upgrades:
        raise StoreError(
            f"{place} has schema version {version}, this release needs {SCHEMA_VERSION}; "
            f"stop its workers and run: orchestrator db upgrade --db '{place}'"
        )
    for number in range(version + 1, SCHEMA_VERSION + 1):
        for statement in POSTGRES[number]:
            link.execute(dialect.named(statement))
        _note(link, number)


def _install(link: Link, dialect: Dialect) -> None:
    link.defer_text(f"CREATE SCHEMA IF NOT EXISTS {dialect.quoted}")
    for statement in dialect.definitions:
        link.defer_text(statement)
    link.flush()
    seed = time.time_ns() // 1000
    """Numbers start at the time of making: higher than those of a database that this one replaces."""
    link.execute(f"ALTER TABLE {dialect.quoted}.projections ALTER COLUMN seq RESTART WITH {seed}")
    _note(link, SCHEMA_VERSION)


def _note(link: Link, version: int) -> None:
    link.defer("insert_schema_version", version, to_micros(datetime.now(UTC)))


def _installed(link: Link, dialect: Dialect) -> int:
    """0: there are no tables."""
    if link.all("find_table", f"{dialect.quoted}.schema_version")[0][0] is None:
        return 0
    version: int = link.all("installed_version")[0][0] or 0
    return version
