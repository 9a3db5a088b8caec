"""From a database URL to a store."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from urllib.parse import unquote

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.attribute_store import AttributeStore
from orchestrator.store.contract import Store
from orchestrator.store.postgres_url import is_postgres, read_url

_SQLITE = "sqlite:///"


def open_store(url: str) -> Store:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, or a plain path; made when it is not there.

    `postgresql://user@host/database?schema=name`: the database is there, the schema is made.
    """
    if is_postgres(url):
        _demand_driver()
        from orchestrator.store.postgres import PostgresStore

        return PostgresStore(read_url(url))
    path = _path_of(url)
    from orchestrator.store.sqlite import SqliteStore

    return SqliteStore(path)


def open_attribute_store(url: str) -> AttributeStore:
    """Any database that SQLAlchemy knows; connected to when first written to. Raises UsageError."""
    from orchestrator.store.attribute_tables import AttributeTables

    return AttributeTables(url)


def upgrade_store(url: str) -> tuple[int, int]:
    """Make the database one of this release; its schema version before (0: there was none) and after."""
    if is_postgres(url):
        _demand_driver()
        from orchestrator.store import postgres

        return postgres.upgrade(read_url(url))
    path = _path_of(url)
    from orchestrator.store import sqlite

    return sqlite.upgrade(path)


def _path_of(url: str) -> str:
    if "://" not in url:
        path = url
    elif url.startswith(_SQLITE):
        path = unquote(url[len(_SQLITE) :].partition("?")[0])
    else:
        raise UsageError(
            f"runs are stored in SQLite or PostgreSQL: --db {_SQLITE}FILE or --db postgresql://HOST/DATABASE "
            f"(given: {without_password(url)})"
        )
    if not path or path == ":memory:":
        raise UsageError(f"a database file is needed: --db {_SQLITE}FILE")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise StoreError(f"{path}: its directory does not exist", path=path)
    return path


def _demand_driver() -> None:
    """It is an extra."""
    if find_spec("psycopg") is None:
        raise UsageError("PostgreSQL needs its driver: pip install 'orchestrator[postgres]'")


def without_password(url: str) -> str:
    """For messages."""
    return read_url(url).shown if is_postgres(url) else re.sub("://[^/]*@", "://", url)
