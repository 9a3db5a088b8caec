"""Databases of earlier releases become databases of this one, without loss."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.changes import RunOpened
from orchestrator.core.codec import decode
from orchestrator.errors import StoreError
from orchestrator.store.migrations import SCHEMA_VERSION
from orchestrator.store.opening import open_store, upgrade_store
from orchestrator.store.sqlite import SqliteStore
from tests.support import later_schema

HISTORY_1 = b'[["run_opened","run-1","r","2030-01-01T00:00:00.000005Z",{"n":1.5},null]]'
SCHEMA_1 = Path(__file__).with_name("schema_1.sql")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file as the first release left it, with one commit in its history."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA_1.read_text())
        connection.execute("PRAGMA application_id=0x0F10C4A7")
        connection.execute("INSERT INTO schema_version VALUES (1, 0)")
        row = (1, 1, 0, "RunStarted", None, HISTORY_1)
        connection.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    return path


def tables(path: Path) -> Iterator[tuple[str, list[Any]]]:
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')")
        for (name,) in sorted(names):
            columns = connection.execute(f"SELECT * FROM pragma_table_info('{name}')").fetchall()
            columns += connection.execute(f"SELECT * FROM pragma_index_xinfo('{name}')").fetchall()
            yield name, columns


def test_an_older_file_is_refused_with_the_command_that_helps(old: Path) -> None:
    with pytest.raises(StoreError, match="orchestrator db upgrade --db sqlite:///"):
        SqliteStore(str(old))


def test_upgrading_keeps_what_there_is(old: Path) -> None:
    assert upgrade_store(f"sqlite:///{old}") == (1, SCHEMA_VERSION)
    with closing(SqliteStore(str(old))) as store, store.reading() as reading:
        (row,) = reading.history(1)
    assert (row.kind, row.event) == ("RunStarted", None)
    assert decode(row.body) == [RunOpened("run-1", "r", datetime(2030, 1, 1, 0, 0, 0, 5, UTC), {"n": 1.5})]


def test_an_upgraded_file_has_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    open_store(f"sqlite:///{new}").close()
    upgrade_store(f"sqlite:///{old}")
    assert dict(tables(old)) == dict(tables(new))


def test_upgrading_twice_changes_nothing(old: Path) -> None:
    upgrade_store(f"sqlite:///{old}")
    assert upgrade_store(f"sqlite:///{old}") == (SCHEMA_VERSION, SCHEMA_VERSION)


def test_upgrading_makes_a_database_that_is_not_there(tmp_path: Path) -> None:
    assert upgrade_store(f"sqlite:///{tmp_path}/new.db") == (0, SCHEMA_VERSION)


def test_a_newer_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    open_store(str(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (?, 0)", (SCHEMA_VERSION + 1,))
        connection.commit()
    with pytest.raises(StoreError, match="use a newer release"):
        upgrade_store(f"sqlite:///{path}")


def test_a_failed_upgrade_leaves_the_file_as_it_was(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of the versions before the one that failed."""
    later_schema.become(monkeypatch, tmp_path / "later", 'op.execute("CREATE TABLE runs (flow TEXT)")')
    before = dict(tables(old))
    with pytest.raises(StoreError, match="already exists"):
        upgrade_store(f"sqlite:///{old}")
    assert dict(tables(old)) == before
