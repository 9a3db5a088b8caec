"""The write transaction's connection in the hands of a handler."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlalchemy.orm import Session

from orchestrator.errors import StoreError, TransactionLost, UsageError
from orchestrator.store.contract import Transaction
from orchestrator.store.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(str(tmp_path / "runs.db"))
    connection = sqlite3.connect(store.path)
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT)")
    connection.close()
    yield store
    store.close()


def note(connection: Connection, value: str) -> None:
    connection.execute(text("INSERT INTO notes (note) VALUES (:note)"), {"note": value})


def note_and_fail(transaction: Transaction) -> None:
    with transaction.lend() as loan:
        note(loan.connection, "undone")
        raise KeyError


def note_and_lose(store: SqliteStore) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "a")
        loan.connection.exec_driver_sql("INSERT OR ROLLBACK INTO notes (id) VALUES (1)")


def notes(store: SqliteStore) -> list[str]:
    connection = sqlite3.connect(store.path)
    found = [value for (value,) in connection.execute("SELECT note FROM notes ORDER BY id")]
    connection.close()
    return found


def test_what_is_written_becomes_durable_with_the_commit(store: SqliteStore) -> None:
    with store.writing() as transaction:
        with transaction.lend() as loan:
            note(loan.connection, "a")
            with loan.connection.begin_nested():
                note(loan.connection, "nested")
            with Session(bind=loan.connection) as session:
                session.execute(text("INSERT INTO notes (note) VALUES ('orm')"))
                session.commit()
        assert notes(store) == []
    assert notes(store) == ["a", "nested", "orm"]


def test_a_block_that_raises_undoes_its_own_writes_only(store: SqliteStore) -> None:
    with store.writing() as transaction:
        with transaction.lend() as loan:
            note(loan.connection, "kept")
        with pytest.raises(KeyError):
            note_and_fail(transaction)
    assert notes(store) == ["kept"]


def test_a_rollback_goes_back_to_where_the_handler_began(store: SqliteStore) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "undone")
        loan.connection.rollback()
        note(loan.connection, "kept")
    assert notes(store) == ["kept"]


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK", "DELETE FROM runs", "DROP TABLE history"])
def test_the_commit_and_our_tables_are_out_of_reach(store: SqliteStore, statement: str) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "a")
        with pytest.raises(DatabaseError, match="not authorized"):
            loan.connection.exec_driver_sql(statement)
    assert notes(store) == ["a"]


def test_a_commit_of_its_own_is_refused(store: SqliteStore) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "a")
        with pytest.raises(UsageError, match="not before"):
            loan.connection.commit()


def test_a_connection_kept_over_its_commit_refuses_everything(store: SqliteStore) -> None:
    with store.writing() as transaction:
        with transaction.lend() as loan:
            cursor = loan.connection.connection.cursor()
            cursor.execute("SELECT 1 UNION ALL SELECT 2")
        with pytest.raises(StoreError, match="is over"):
            cursor.fetchone()
    with store.writing() as transaction, pytest.raises(StoreError, match="is over"):
        cursor.execute("DELETE FROM notes")


def test_a_revoked_connection_stops_its_running_statement(store: SqliteStore) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + tick() FROM n) SELECT count(*) FROM n"
    ended = threading.Event()
    with store.writing() as transaction, transaction.lend() as loan:
        running = threading.Event()

        def tick() -> int:
            running.set()
            return 1

        def count() -> None:
            with pytest.raises((SQLAlchemyError, StoreError)):
                loan.connection.execute(text(endless))
            ended.set()

        note(loan.connection, "a")
        loan.connection.connection.create_function("tick", 0, tick)
        threading.Thread(target=count, daemon=True).start()
        assert running.wait(60)
        loan.revoke()
        assert ended.wait(60)
    assert notes(store) == ["a"]


def test_a_revoked_connection_begins_no_statement(store: SqliteStore) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "a")
        loan.revoke()
        with pytest.raises((SQLAlchemyError, StoreError), match="is over"):
            note(loan.connection, "b")
    assert notes(store) == ["a"]


def test_a_transaction_that_the_handler_ended_is_noticed(store: SqliteStore) -> None:
    with pytest.raises(TransactionLost):
        note_and_lose(store)
    assert notes(store) == []
    with store.writing() as transaction, transaction.lend() as loan:
        note(loan.connection, "b")
    assert notes(store) == ["b"]
