import sqlite3
from pathlib import Path

import pytest

from orchestrator.errors import StoreError, UsageError
from orchestrator.store.migrations import SCHEMA_VERSION
from orchestrator.store.opening import open_store
from orchestrator.store.sqlite import SqliteStore


def test_a_new_file_is_made_and_opened_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    open_store(url).close()
    again = open_store(url)
    with again.reading() as reading:
        assert list(reading.heads()) == []
    again.close()


def test_a_plain_path_is_a_store_too(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))
    assert store.url == f"sqlite:///{tmp_path}/runs.db"
    store.close()


def test_the_file_is_durable_and_read_beside_the_writer(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "runs.db"))
    connection = sqlite3.connect(store.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()
    store.close()


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"other\.db is a SQLite database of another program"):
        open_store(str(path))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, bread, eggs\n" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt: this file is not a SQLite database"):
        open_store(str(path))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    open_store(str(path)).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO schema_version VALUES (?, 0)", (SCHEMA_VERSION + 1,))
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=rf"schema version {SCHEMA_VERSION + 1}, this release knows"):
        open_store(str(path))


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="its directory does not exist"):
        open_store(f"sqlite:///{tmp_path}/nowhere/runs.db")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host/db", r"SQLite or PostgreSQL.*\(given: mysql://host/db\)"),
        ("sqlite:///", "a database file is needed"),
    ],
)
def test_other_urls_are_refused_without_showing_passwords(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"), store.reading():
        pass
