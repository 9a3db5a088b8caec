"""From a database URL to a store."""

from __future__ import annotations

import os
from urllib.parse import unquote

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.attribute_store import AttributeStore
from orchestrator.store.contract import Store

_SQLITE = "sqlite:///"


def open_store(url: str) -> Store:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, or a plain path; made when it is not there."""
    path = _path_of(url)
    from orchestrator.store.sqlite import SqliteStore

    return SqliteStore(path)


def open_attribute_store(url: str) -> AttributeStore:
    """Any database that SQLAlchemy knows; connected to when first written to. Raises UsageError."""
    from orchestrator.store.attribute_tables import AttributeTables

    return AttributeTables(url)


def upgrade_store(url: str) -> tuple[int, int]:
    """Make the database one of this release; its schema version before (0: there was none) and after."""
    path = _path_of(url)
    from orchestrator.store.sqlite import upgrade

    return upgrade(path)


def _path_of(url: str) -> str:
    if "://" not in url:
        path = url
    elif url.startswith(_SQLITE):
        path = unquote(url[len(_SQLITE) :].partition("?")[0])
    else:
        raise UsageError(
            f"this release stores runs in SQLite only: --db {_SQLITE}FILE (given: {_without_password(url)})"
        )
    if not path or path == ":memory:":
        raise UsageError(f"a database file is needed: --db {_SQLITE}FILE")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise StoreError(f"{path}: its directory does not exist", path=path)
    return path


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
