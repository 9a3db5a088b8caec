"""From a database URL to a store."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from urllib.parse import unquote

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.absence import absent
from orchestrator.store.attribute_store import AttributeStore
from orchestrator.store.contract import Store
from orchestrator.store.postgres_url import is_postgres, read_url

_SQLITE = "sqlite:///"
_MEMORY = ("sqlite://", "sqlite:///:memory:", ":memory:")
_NAMED_MEMORY = re.compile(r"sqlite:///file:([^?]+)\?(?:.*&)?mode=memory(?:&|$)")


def open_store(url: str, *, makes: bool = True) -> Store:
    """Made when it is not there, unless `makes` is False: then it raises NotFound.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, or a plain path.
    `sqlite://`: in memory, and nobody else's; `sqlite:///file:NAME?mode=memory`: of all in this process that
    open it by this name, until the last one closes it.
    `postgresql://user@host/database?schema=name`: the database is there, the schema is made.
    """
    if is_postgres(url):
        _demand_driver()
        from orchestrator.store.postgres import PostgresStore

        return PostgresStore(read_url(url), makes=makes)
    if is_memory(url):
        from orchestrator.store.sqlite_memory import MemoryStore

        named = _NAMED_MEMORY.match(url)
        return MemoryStore(url, named and named[1], makes=makes)
    path = _path_of(url)
    from orchestrator.store.sqlite import SqliteStore

    if not makes and not os.path.exists(path):
        raise absent(f"there is no database {path}", url)
    return SqliteStore(_in_directory(path), makes=makes)


def is_memory(url: str) -> bool:
    """Is it a store that ends with its process?"""
    return url in _MEMORY or _NAMED_MEMORY.match(url) is not None


def url_elsewhere(store: Store) -> str | None:
    """What another process opens the same store by, with the password; None: none can."""
    if is_postgres(store.url):
        from orchestrator.store.postgres import PostgresStore

        return store.address.url if isinstance(store, PostgresStore) else store.url
    return None if is_memory(store.url) else store.url


def open_attribute_store(url: str) -> AttributeStore:
    """Any database that SQLAlchemy knows; connected to when first written to. Raises UsageError."""
    from orchestrator.store.attribute_tables import AttributeTables

    return AttributeTables(url)


def upgrade_store(url: str, *, is_forced: bool = False) -> tuple[int, int]:
    """Make the database one of this release; its schema version before (0: there was none) and after.

    Refuses while workers are alive, unless `is_forced`. Raises StoreError.
    """
    if is_postgres(url):
        _demand_driver()
        from orchestrator.store import postgres

        return postgres.upgrade(read_url(url), is_forced=is_forced)
    if is_memory(url):
        raise UsageError("a database in memory is always of this release")
    path = _path_of(url)
    from orchestrator.store import sqlite

    return sqlite.upgrade(_in_directory(path), is_forced=is_forced)


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
    if not path:
        raise UsageError(f"a database file is needed: --db {_SQLITE}FILE")
    if "\0" in path:
        raise UsageError(f"no file can have this name, with a NUL character in it: {path!r}")
    return path


def _in_directory(path: str) -> str:
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
