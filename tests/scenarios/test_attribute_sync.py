"""Synced attributes reach the attribute store after the commit, in order, whatever happens there."""

import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orchestrator.definition.model import Json
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.projection import ATTEMPTS, PATIENCE
from orchestrator.engine.worker import Worker
from orchestrator.errors import UsageError
from orchestrator.store.attribute_store import AttributeRow, AttributeStoreDown
from orchestrator.store.opening import open_attribute_store
from tests.support.engine_kit import Kit, VirtualClock, another_store, flow_of

CUSTOMER = flow_of(
    """
flow: Customer
types: {Address: {type: object, properties: {city: {type: string}}}}
attributes:
  name: {type: string, sync: true}
  points: {type: integer, sync: true, initial: 0}
  is_known: {type: boolean, sync: true}
  address: {type: Address, sync: true}
  tags: {type: string, map: true, sync: true}
  secret: string
channels: {change: {type: any, external: true}, tag: {type: string, external: true}}
start: Wait
steps:
  Wait:
    wait_for: {any_of: [{channel: change}, {channel: tag}]}
    decide:
      - when: wait.tag.message != null
        set: {tags: {"${wait.tag.message}": "x"}}
        go_to: Wait
      - when: wait.change.message == "end"
        force_complete: null
      - set:
          name: "${wait.change.message.?name.orValue(null)}"
          points: "${attributes.points + 1}"
          address: {city: Rome}
          secret: hidden
        go_to: Wait
"""
)


class Recorder:
    """An attribute store that fails as told."""

    def __init__(self) -> None:
        self.rows: list[AttributeRow] = []
        self.trouble: Exception | None = None
        self.refused: set[str] = set()
        self.asked_count = 0

    def apply(self, rows: Sequence[AttributeRow]) -> None:
        self.asked_count += 1
        if self.trouble is not None:
            raise self.trouble
        if self.refused & {row.flow_id for row in rows}:
            raise ValueError("this is not taken")
        self.rows.extend(rows)

    def close(self) -> None:
        pass

    def points(self, flow_id: str = "run-1") -> list[Json]:
        return [row.values["points"] for row in self.rows if row.flow_id == flow_id]


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[tuple[Kit, Recorder]]:
    recorder = Recorder()
    kit = Kit(tmp_path, attribute_store=recorder)
    yield kit, recorder
    kit.close()
    assert kit.differences == []


def table(path: Path, columns: str = "flow_id, name, points, is_known, address, tags") -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {columns} FROM Customer ORDER BY flow_id").fetchall()


def change(client: Client, flow_id: str = "run-1", **value: Json) -> None:
    client.publish(flow_id, "change", value)


@pytest.mark.rule(115)
def test_one_row_per_flow_id_one_column_per_attribute(tmp_path: Path) -> None:
    target = tmp_path / "customers.db"
    with Client(str(tmp_path / "runs.db"), attribute_store=f"sqlite:///{target}") as client:
        client.start(CUSTOMER, "ada", attributes={"name": "Ada", "is_known": True})
        client.start(CUSTOMER, "ben")
        change(client, "ben", name="Ben")
        client.publish("ada", "tag", "new")
        client.publish("ben", "change", "end")
        with Worker(client.engine) as worker:
            worker.run_until_idle()
            assert table(target) == [
                ("ada", "Ada", 0, 1, None, '{"new": "x"}'),
                ("ben", "Ben", 1, None, '{"city": "Rome"}', None),
            ]
            change(client, "ada")
            worker.run_until_idle()
            assert table(target, "name, points") == [(None, 1), ("Ben", 1)]


@pytest.mark.rule(115)
def test_a_new_run_and_a_time_travel_rewrite_the_whole_row(tmp_path: Path) -> None:
    target = tmp_path / "customers.db"
    client = Client(str(tmp_path / "runs.db"), attribute_store=f"sqlite:///{target}")
    with client, Worker(client.engine) as worker:
        client.start(CUSTOMER, "ada")
        change(client, "ada", name="Ada")
        client.time_travel("ada", reapply=False)
        worker.run_until_idle()
        assert table(target, "name, points, address") == [(None, 0, None)]
        change(client, "ada", name="Ada")
        client.stop("ada")
        client.start(CUSTOMER, "ada", reuse_policy="allow_if_no_running")
        worker.run_until_idle()
        assert table(target, "name, points, address") == [(None, 0, None)]


def test_what_an_older_lease_brings_late_changes_nothing(tmp_path: Path) -> None:
    store = open_attribute_store(f"sqlite:///{tmp_path / 'customers.db'}")
    kinds = dict.fromkeys(["points"], "integer")
    for seq, points in ((5, 50), (7, 70), (6, 60), (7, 71)):
        store.apply([AttributeRow("Customer", "ada", seq, {"points": points}, kinds)])  # type: ignore[arg-type]
    store.close()
    assert table(tmp_path / "customers.db", "points, synced_seq") == [(70, 7)]


def test_a_table_that_is_there_gets_the_columns_that_it_lacks(tmp_path: Path) -> None:
    target = tmp_path / "customers.db"
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("CREATE TABLE Customer (flow_id TEXT PRIMARY KEY, name VARCHAR(20), note TEXT)")
        connection.execute("INSERT INTO Customer VALUES ('ada', 'old', 'mine')")
        connection.commit()
    with Client(str(tmp_path / "runs.db"), attribute_store=f"sqlite:///{target}") as client:
        client.start(CUSTOMER, "ada", attributes={"name": "Ada"})
        with Worker(client.engine) as worker:
            worker.run_until_idle()
    assert table(target, "name, points, note") == [("Ada", 0, "mine")]


@pytest.mark.rule(115)
def test_the_end_is_told_when_the_values_are_there(syncing: tuple[Kit, Recorder]) -> None:
    kit, recorder = syncing
    kit.client.start(CUSTOMER, "run-1")
    with kit.working():
        for _ in range(5):
            change(kit.client)
        kit.client.publish("run-1", "change", "end")
        assert kit.client.wait("run-1", 20)["status"] == "COMPLETED"
        assert recorder.points()[-1] == 5
    assert recorder.points() == sorted(recorder.points(), key=str)


@pytest.mark.rule(115)
@pytest.mark.rule(189)
def test_terminate_does_not_wait_for_the_values(syncing: tuple[Kit, Recorder]) -> None:
    kit, recorder = syncing
    kit.client.start(CUSTOMER, "run-1")
    kit.client.stop("run-1", "terminate")
    assert kit.client.wait("run-1", 20)["status"] == "TERMINATED"
    assert recorder.rows == []


@pytest.mark.rule(115)
def test_a_store_that_is_down_holds_nothing_up_and_gets_all_later(syncing: tuple[Kit, Recorder]) -> None:
    kit, recorder = syncing
    recorder.trouble = AttributeStoreDown("no route")
    kit.client.start(CUSTOMER, "run-1")
    change(kit.client)
    kit.settle()
    assert kit.client.describe("run-1")["attributes"]["points"] == 1
    assert (recorder.points(), recorder.asked_count) == ([], 1)
    recorder.trouble = None
    with kit.working() as worker:
        kit.clock.advance(seconds=1)
        worker.run_until_idle()
    assert recorder.points() == [1]


@pytest.mark.rule(115)
def test_a_store_that_stays_down_loses_the_batch(
    syncing: tuple[Kit, Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    kit, recorder = syncing
    recorder.trouble = AttributeStoreDown("no route")
    kit.client.start(CUSTOMER, "run-1")
    with kit.working() as worker:
        worker.run_until_idle()
        kit.clock.advance(seconds=PATIENCE.total_seconds())
        worker.run_until_idle()
    assert "synced attributes dropped, of run-1 (1 commits): no route" in caplog.text
    recorder.trouble = None
    change(kit.client)
    kit.settle()
    assert recorder.points() == [1]


@pytest.mark.rule(115)
def test_only_the_rows_that_are_not_taken_are_dropped(
    syncing: tuple[Kit, Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    kit, recorder = syncing
    recorder.refused = {"run-2"}
    for number in (1, 2, 3):
        kit.client.start(CUSTOMER, f"run-{number}")
    with kit.working() as worker:
        for _ in range(ATTEMPTS):
            worker.run_until_idle()
            kit.clock.advance(seconds=100)
        worker.run_until_idle()
    assert [row.flow_id for row in recorder.rows] == ["run-1", "run-3"]
    assert "dropped, of run-2 (1 commits): this is not taken" in caplog.text
    with kit.engine.store.reading() as reading:
        assert not reading.is_projecting()


@pytest.mark.rule(115)
def test_one_worker_at_a_time_carries_them_over_in_order(
    syncing: tuple[Kit, Recorder],
) -> None:
    kit, recorder = syncing
    other_clock = VirtualClock()
    other = Engine(another_store(kit), clock=other_clock, attribute_store=recorder)
    kit.client.start(CUSTOMER, "run-1")
    with kit.working(), Worker(other) as worker:
        for number in range(40):
            change(kit.client if number % 2 else Client(other))
        kit.client.publish("run-1", "change", "end")
        kit.client.wait("run-1", 20)
        worker.run_until_idle()
    other.close()
    points = [p for p in recorder.points() if isinstance(p, int)]
    assert points == sorted(points)
    assert points[-1] == 40


@pytest.mark.rule(116)
def test_without_a_store_it_is_said_once_and_skipped(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "orchestrator"):
        kit.client.start(CUSTOMER, "run-1")
        change(kit.client)
        kit.settle()
    said = [record.getMessage() for record in caplog.records if "no attribute store" in record.getMessage()]
    assert len(said) == 1
    assert "flow Customer: address, is_known, name, points, tags are not synced" in said[0]
    with kit.engine.store.reading() as reading:
        assert not reading.is_projecting()


@pytest.mark.rule(116)
@pytest.mark.parametrize("url", ["customers.db", "nosuch://host/db"])
def test_what_is_no_attribute_store_is_refused_at_start(tmp_path: Path, url: str) -> None:
    worker = Worker(str(tmp_path / "runs.db"), attribute_store=url)
    with pytest.raises(UsageError, match="is no attribute store"):
        worker.start()
    worker.engine.close()


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "ORCHESTRATOR_ATTRIBUTE_STORE", f"sqlite:///{tmp_path / 'c.db'}")
    with Client(str(tmp_path / "runs.db")) as client:
        client.start(CUSTOMER, "ada")
        with Worker(client.engine) as worker:
            worker.run_until_idle()
    assert table(tmp_path / "c.db", "flow_id, points") == [("ada", 0)]
