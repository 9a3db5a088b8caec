"""However many threads read, a process has a few connections for that."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from orchestrator.errors import StoreError
from orchestrator.store import reading_room
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.postgres_url import read_url
from orchestrator.store.reading_room import SEATS, ReadingRoom
from tests.support import postgres

CROWD = SEATS * 4
SOON = 20.0
"""Seconds."""


def read_together(store: Store) -> int:
    """By many threads, each with a second reading inside its first; how many have read."""
    barrier = threading.Barrier(CROWD)

    def read(number: int) -> int:
        barrier.wait(SOON)
        with store.reading() as reading, store.reading() as inner:
            return len(reading.running_among([number])) + len(inner.run_counts()) + 1

    with ThreadPoolExecutor(CROWD) as pool:
        return sum(pool.map(read, range(CROWD)))


def test_a_crowd_reads_through_few_connections_to_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"crowd of {os.getpid()}"  # other tests use the same database at the same time
    monkeypatch.setenv("PGAPPNAME", name)
    with postgres.database() as url:
        store = open_store(url)
        assert read_together(store) == CROWD
        with psycopg.connect(read_url(url).conninfo, application_name="who asks") as connection:
            asked = "SELECT pid, query FROM pg_stat_activity WHERE application_name = %s"
            crowd = connection.execute(asked, [name]).fetchall()
        store.close()
    writer = 1
    assert writer < len(crowd) <= writer + SEATS * 2, crowd


def test_a_crowd_reads_a_file(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'crowd.db'}")
    assert read_together(store) == CROWD
    store.close()


def test_who_comes_when_all_seats_are_taken_waits_for_one() -> None:
    room, entered, may_leave = ReadingRoom(1), threading.Event(), threading.Event()

    def sit() -> None:
        with room.seat():
            entered.set()
            assert may_leave.wait(SOON)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sit)
        assert entered.wait(SOON)
        entered.clear()
        second = pool.submit(sit)
        assert not entered.is_set()
        may_leave.set()
        first.result(SOON)
        second.result(SOON)


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_room, "PATIENCE", 0.01)
    room = ReadingRoom(1)
    with room.seat(), ThreadPoolExecutor(1) as pool:
        refused = pool.submit(lambda: room.seat().__enter__())
        with pytest.raises(StoreError, match=r"1 threads of this process read for more than 0\.01 s"):
            refused.result(SOON)
