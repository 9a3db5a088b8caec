"""The database itself: are our tables there, are they of this release, and how they come to be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from orchestrator.errors import StoreError
from orchestrator.store.absence import absent
from orchestrator.store.migrations import SCHEMA_VERSION
from orchestrator.store.postgres_link import Dialect, Link
from orchestrator.store.times import to_micros


def demand_release(
    link: Link,
    dialect: Dialect,
    place: str,
    *,
    upgrades: bool = False,
    is_forced: bool = False,
    makes: bool = True,
) -> tuple[int, int]:
    """Make the tables where there are none; schema version before (0: there were none) and after.

    `is_forced`: upgrade although workers seem to be alive.

    Raises StoreError for tables of another release, and NotFound where there are none and it `makes` none.
    """
    version = _installed(link, dialect)
    if version == 0:
        if not makes:
            raise absent(f"there are no runs in {place}: its schema {dialect.quoted} has no tables", place)
        version = _make(link, dialect)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{place} has schema version {version}, this release knows {SCHEMA_VERSION}; "
            "use a newer release of orchestrator"
        )
    if 0 < version < SCHEMA_VERSION and not upgrades:
        raise StoreError(
            f"{place} has schema version {version}, this release needs {SCHEMA_VERSION}; "
            f"stop its workers and run: orchestrator db upgrade --db '{place}'"
        )
    if 0 < version < SCHEMA_VERSION:
        version = _upgrade(link, dialect, place, is_forced=is_forced)
    return version, SCHEMA_VERSION


def _make(link: Link, dialect: Dialect) -> int:
    """The version that was there: somebody else may have been first."""
    with _alone(link, dialect):
        version = _installed(link, dialect)
        if version == 0:
            _install(link, dialect)
        return version


def _upgrade(link: Link, dialect: Dialect, place: str, *, is_forced: bool) -> int:
    """All in one transaction. The version that was there: somebody else may have been first."""
    from orchestrator.store.migrations.running import revisions_on

    with revisions_on(link.connection, "postgresql+psycopg://") as revisions, _alone(link, dialect):
        before = _installed(link, dialect)
        link.execute(f"SET LOCAL search_path TO {dialect.quoted}")
        if before < SCHEMA_VERSION and not is_forced:
            revisions.demand_rest(place)
        for version in revisions.run(before, SCHEMA_VERSION):
            _note(link, version)
        return before


@contextmanager
def _alone(link: Link, dialect: Dialect) -> Iterator[None]:
    """A transaction in which nobody else changes the schema."""
    link.defer_text("BEGIN ISOLATION LEVEL READ COMMITTED")
    try:
        link.all("lock_schema", f"{dialect.schema}.schema")
        yield
        link.defer_text("COMMIT")
        link.flush()
    except BaseException:
        link.forget()
        if not link.is_broken:
            link.execute("ROLLBACK")
        raise


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
    if not link.all("has_table", dialect.schema, "schema_version")[0][0]:
        return 0
    version: int = link.all("installed_version")[0][0] or 0
    return version
