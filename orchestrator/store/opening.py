"""From a database URL to a store."""

from __future__ import annotations

import os
from urllib.parse import unquote

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.contract import Store

_SQLITE = "sqlite:///"


def open_store(url: str) -> Store:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, or a plain path; made when it is not there."""
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
    from orchestrator.store.sqlite import SqliteStore

    return SqliteStore(path)


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
