"""Stores of earlier releases, kept as SQL under tests/stores/earlier: `NAME.sql`, `postgres/NAME.sql`."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from psycopg.sql import Identifier

from orchestrator.store.postgres_url import read_url
from tests.support import postgres

EARLIER = Path(__file__).parents[1] / "stores" / "earlier"
_SCHEMA = "schema_of_an_earlier_release"
_NOISE = re.compile(r"^(--|\\|SET |SELECT pg_catalog.set_config)")


def kept_stores() -> list[str]:
    """`NAME` of those on SQLite, `postgres/NAME`."""
    return sorted(path.relative_to(EARLIER).with_suffix("").as_posix() for path in EARLIER.rglob("*.sql"))


@contextmanager
def restored(name: str, directory: Path) -> Iterator[str]:
    """The URL of a store as the earlier release left it."""
    text = (EARLIER / f"{name}.sql").read_text(encoding="utf-8")
    if not name.startswith("postgres/"):
        path = directory / "runs.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(text)
            connection.execute("PRAGMA application_id=0x0F10C4A7")
            connection.execute("PRAGMA journal_mode=WAL")
        yield f"sqlite:///{path}"
        return
    with postgres.database() as url:
        address = read_url(url)
        with psycopg.connect(address.conninfo, autocommit=True) as server:
            server.execute(text.replace(_SCHEMA, Identifier(address.schema).as_string()).encode())
        yield url


def keep_sqlite(name: str, path: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        _keep(name, "\n".join(connection.iterdump()))


@contextmanager
def kept_postgres(name: str) -> Iterator[str]:
    """The URL of a store to fill, which is written down at the end."""
    url = postgres.schema_url(_SCHEMA)
    yield url
    command = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", f"--schema={_SCHEMA}"]
    command[0] = str(postgres.binaries() / command[0])
    dumped = subprocess.run([*command, postgres.server_url()], check=True, capture_output=True, text=True)
    lines = (line for line in dumped.stdout.splitlines() if not _NOISE.match(line))
    _keep(f"postgres/{name}", "\n".join(lines))


def _keep(name: str, text: str) -> None:
    path = EARLIER / f"{name}.sql"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
