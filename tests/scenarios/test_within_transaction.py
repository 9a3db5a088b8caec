"""Runs started and messages sent inside the application's own transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.orm import Session

from orchestrator.errors import AlreadyStarted, NotExternal, NotFound, StoreError, UsageError
from tests.support import postgres
from tests.support.engine_kit import PATIENCE, Kit, database_of, flow_of

ORDER = flow_of(
    """
flow: Order
handlers: tests.support.engine_handlers
input: integer
output: integer
channels: {paid: {type: integer, external: true}, inner: integer}
attributes: {note: string}
start: Ship
steps:
  Ship:
    execute: double
    input: integer
    result: {type: integer, name: twice}
    go_to: {step: Wait, input: "${twice}"}
  Wait:
    input: integer
    wait_for: {until: {channel: paid}}
    graceful_complete: "${input + wait.paid.message}"
rpcs:
  annotate: {input: string, output: string, set: {note: "${input}"}, returns: "noted ${input}"}
"""
)


@pytest.fixture
def shop(kit: Kit) -> Iterator[Engine]:
    """The application's engine on the same file, with a table of its own."""
    engine = database_of(kit)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE orders (id TEXT PRIMARY KEY)"))
    yield engine
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE orders"))
    engine.dispose()


def insert(connection: Connection, order: str) -> None:
    connection.execute(text("INSERT INTO orders VALUES (:id)"), {"id": order})


def orders(shop: Engine) -> list[str]:
    with shop.connect() as connection:
        return [row.id for row in connection.execute(text("SELECT id FROM orders ORDER BY id"))]


def ids(kit: Kit) -> list[Any]:
    return [run["flow_id"] for run in kit.client.search()]


def test_a_start_is_committed_with_the_callers_writes(kit: Kit, shop: Engine) -> None:
    with shop.begin() as connection:
        insert(connection, "o-1")
        started = kit.client.within(connection).start(ORDER, "o-1", 4)
        assert started.is_new
        assert ids(kit) == [], "nobody else sees it yet"
    assert (orders(shop), ids(kit)) == (["o-1"], ["o-1"])
    assert kit.phases("o-1") == {"Ship-1": "queued"}


def test_a_rollback_takes_both_away(kit: Kit, shop: Engine) -> None:
    with shop.connect() as connection:
        kit.client.within(connection).start(ORDER, "o-1", 4)
        insert(connection, "o-1")
        connection.rollback()
    assert (orders(shop), ids(kit)) == ([], [])
    kit.client.start(ORDER, "o-1", 4)
    assert ids(kit) == ["o-1"]


def test_commit_as_you_go_needs_no_begin(kit: Kit, shop: Engine) -> None:
    with shop.connect() as connection:
        kit.client.within(connection).start(ORDER, "o-1", 4)
        connection.commit()
        kit.client.within(connection).start(ORDER, "o-2", 4)
    assert ids(kit) == ["o-1"]


def test_a_session_is_a_transaction_too(kit: Kit, shop: Engine) -> None:
    with Session(shop) as session:
        insert(session.connection(), "o-1")
        kit.client.within(session.connection()).start(ORDER, "o-1", 4)
        session.commit()
    assert (orders(shop), ids(kit)) == (["o-1"], ["o-1"])


def test_workers_are_woken_by_the_commit(kit: Kit, shop: Engine) -> None:
    with kit.working() as worker:
        worker.run_until_idle()
        with shop.begin() as connection:
            client = kit.client.within(connection)
            client.start(ORDER, "o-1", 4)
            client.publish("o-1", "paid", 1)
        run = kit.client.wait("o-1", timeout=PATIENCE)
    assert run["outputs"][0]["output"] == 9


def test_a_message_is_committed_with_the_callers_writes(kit: Kit, shop: Engine) -> None:
    kit.client.start(ORDER, "o-1", 4)
    with kit.working() as worker:
        worker.run_until_idle()
        for ends in (False, True):
            with shop.connect() as connection:
                kit.client.within(connection).publish("o-1", "paid", 1)
                assert kit.client.describe("o-1")["status"] == "RUNNING"
                if ends:
                    connection.commit()
        assert worker.run_until_closed("o-1")["outputs"][0]["output"] == 9
    assert kit.events("o-1").count("MessagesPublished") == 1


def test_an_rpc_is_committed_with_the_callers_writes(kit: Kit, shop: Engine) -> None:
    kit.client.start(ORDER, "o-1", 4)
    with shop.connect() as connection:
        assert kit.client.within(connection).rpc("o-1", "annotate", "urgent") == "noted urgent"
        assert kit.client.describe("o-1")["attributes"] == {}
        connection.rollback()
    assert kit.client.describe("o-1")["attributes"] == {}
    with shop.begin() as connection:
        kit.client.within(connection).rpc("o-1", "annotate", "urgent")
    assert kit.client.describe("o-1")["attributes"] == {"note": "urgent"}


def test_the_client_inside_sees_what_it_has_done(kit: Kit, shop: Engine) -> None:
    with shop.begin() as connection:
        client = kit.client.within(connection)
        client.start(ORDER, "o-1", 4)
        assert client.describe("o-1")["status"] == "RUNNING"
        client.stop("o-1")
        assert client.describe("o-1")["status"] == "CANCELED"
        assert [run["flow_id"] for run in client.search()] == ["o-1"]
    assert kit.client.describe("o-1")["status"] == "CANCELED"


def test_a_refused_request_leaves_the_callers_transaction_usable(kit: Kit, shop: Engine) -> None:
    kit.client.start(ORDER, "o-1", 4)
    with shop.begin() as connection:
        client = kit.client.within(connection)
        insert(connection, "o-1")
        with pytest.raises(AlreadyStarted):
            client.start(ORDER, "o-1", 4)
        with pytest.raises(NotExternal):
            client.publish("o-1", "inner", 1)
        with pytest.raises(NotFound):
            client.publish("o-2", "paid", 1)
        client.start(ORDER, "o-2", 4)
    assert (orders(shop), sorted(ids(kit))) == (["o-1"], ["o-1", "o-2"])
    assert kit.events("o-1") == ["RunStarted"]


def test_a_rolled_back_savepoint_of_the_caller_takes_the_start_with_it(kit: Kit, shop: Engine) -> None:
    with shop.begin() as connection:
        client = kit.client.within(connection)
        client.start(ORDER, "kept", 4)
        savepoint = connection.begin_nested()
        client.start(ORDER, "gone", 4)
        client.publish("kept", "paid", 1)
        savepoint.rollback()
        client.publish("kept", "paid", 2)
    assert ids(kit) == ["kept"]
    assert kit.client.describe("kept", messages=True)["channels"]["paid"] == {"size": 1, "messages": [2]}


def test_a_definition_first_stored_in_a_rolled_back_transaction_is_stored_again(
    kit: Kit, shop: Engine
) -> None:
    with shop.connect() as connection:
        kit.client.within(connection).start(ORDER, "o-1", 4)
    with shop.begin() as connection:
        kit.client.within(connection).start(ORDER, "o-2", 4)
    with kit.engine.store.reading() as reading:
        assert reading.definition_names() == [("Order", ORDER.hash)]


def test_memory_of_the_worker_keeps_up(kit: Kit, shop: Engine) -> None:
    """What another connection of this process commits is a foreign commit to the engine."""
    kit.client.start(ORDER, "o-1", 4)
    with kit.working() as worker:
        worker.run_until_idle()
        with shop.begin() as connection:
            kit.client.within(connection).rpc("o-1", "annotate", "a")
        kit.client.rpc("o-1", "annotate", "b")
        with shop.begin() as connection:
            kit.client.within(connection).rpc("o-1", "annotate", "c")
        kit.client.publish("o-1", "paid", 1)
        worker.run_until_closed("o-1")
    assert kit.events("o-1").count("RpcCalled") == 3


def test_nothing_is_waited_for_inside(kit: Kit, shop: Engine) -> None:
    with shop.begin() as connection:
        client = kit.client.within(connection)
        client.start(ORDER, "o-1", 4)
        with pytest.raises(UsageError, match="commit it first"):
            client.wait("o-1")
        with pytest.raises(UsageError, match="already inside a transaction"):
            client.within(connection)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_connection_to_another_database_is_refused(kit: Kit, tmp_path: Path) -> None:
    for url, words in ((f"sqlite:///{tmp_path}/other.db", "other.db"), ("sqlite://", "in memory")):
        engine = create_engine(url)
        with engine.connect() as connection, pytest.raises(UsageError, match=words):
            kit.client.within(connection)
        engine.dispose()


def test_a_connection_in_autocommit_mode_is_refused(kit: Kit, shop: Engine) -> None:
    autocommit = shop.connect().execution_options(isolation_level="AUTOCOMMIT")
    with autocommit as connection, pytest.raises(UsageError, match="autocommit"):
        kit.client.within(connection).start(ORDER, "o-1", 4)
    assert ids(kit) == []


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_stores_of_one_database_share_a_transaction_and_others_are_refused(kit: Kit) -> None:
    with postgres.database() as elsewhere:
        other = Kit(elsewhere)
        with database_of(kit).connect() as connection:
            kit.client.within(connection).start(ORDER, "o-1", 4)
            other.client.within(connection).start(ORDER, "o-1", 4)
            connection.commit()
        assert ids(kit) == ids(other) == ["o-1"]
        other.close()
    sqlite = create_engine("sqlite://")
    with sqlite.connect() as connection, pytest.raises(UsageError, match="the connection is to sqlite"):
        kit.client.within(connection)
    sqlite.dispose()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_transaction_that_has_read_an_older_state_is_told_what_to_do(kit: Kit) -> None:
    engine = create_engine(f"sqlite:///{kit.path}", connect_args={"isolation_level": None, "timeout": 0.1})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    with engine.connect() as connection:
        connection.execute(text("SELECT count(*) FROM runs"))
        kit.client.start(ORDER, "o-1", 4)
        with pytest.raises(StoreError, match="BEGIN IMMEDIATE"):
            kit.client.within(connection).start(ORDER, "o-2", 4)
        connection.rollback()
        kit.client.within(connection).start(ORDER, "o-2", 4)
        connection.commit()
    engine.dispose()
    assert sorted(ids(kit)) == ["o-1", "o-2"]
