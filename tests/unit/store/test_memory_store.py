"""The store in the memory of this process; what it has in common with the others is in tests/stores."""

import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlalchemy

from orchestrator.errors import NotFound, StoreError, UsageError
from orchestrator.store.opening import open_store, upgrade_store, url_elsewhere
from tests.support.engine_kit import PATIENCE, Kit, flow_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HELLO = flow_of(
    """
flow: Hello
channels: {go: {type: integer, external: true}}
output: integer
start: Wait
steps:
  Wait:
    wait_for: {until: {channel: go, id: go}}
    graceful_complete: "${wait.go.message}"
"""
)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", ":memory:"])
def test_a_run_goes_to_its_end_and_nobody_else_sees_it(url: str) -> None:
    with closing(Kit(url)) as kit, closing(Kit(url)) as other:
        kit.client.start(HELLO, "run-1")
        kit.client.publish("run-1", "go", 7)
        with kit.working():
            assert kit.client.wait("run-1", timeout=PATIENCE)["outputs"][0]["output"] == 7
        assert kit.differing_replays() == []
        assert other.client.search() == []


def test_a_worker_and_a_client_meet_under_a_name() -> None:
    url = "sqlite:///file:meeting?mode=memory&cache=shared&uri=true"
    with closing(Kit(url)) as client, closing(Kit(url)) as worker, worker.working():
        client.client.start(HELLO, "run-1")
        client.client.publish("run-1", "go", 7)
        assert client.client.wait("run-1", timeout=PATIENCE)["status"] == "COMPLETED"


def test_it_is_gone_when_the_last_one_has_closed_it() -> None:
    url = "sqlite:///file:passing?mode=memory"
    with pytest.raises(NotFound, match="no database `passing`"):
        open_store(url, makes=False)
    first, second = open_store(url), open_store(url, makes=False)
    with first.writing() as transaction:
        transaction.register_worker(NOW, "host", 1, "")
    first.close()
    first.close()
    with second.reading() as reading:
        assert len(reading.workers()) == 1
    second.close()
    with closing(open_store(url)) as third, third.reading() as reading:
        assert reading.workers() == []
    with pytest.raises(StoreError, match="was closed"), second.reading():
        pass


def test_threads_that_write_and_read_take_turns() -> None:
    rounds, threads_count = 25, 4
    url = "sqlite:///file:turns?mode=memory"
    with closing(open_store(url)), closing(open_store(url)) as store:

        def work() -> None:
            with closing(open_store(url)) as mine:
                for _ in range(rounds):
                    with mine.writing() as transaction:
                        before = len(transaction.workers())
                        transaction.register_worker(NOW, "host", 1, "")
                        with mine.reading() as reading:
                            assert len(reading.workers()) == before + 1
                    with mine.reading() as reading:
                        assert len(reading.workers()) > before

        threads = [threading.Thread(target=work) for _ in range(threads_count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        with store.reading() as reading:
            assert len(reading.workers()) == rounds * threads_count
        assert store.sizes()[0] > 0
        store.vacuum()


def test_what_needs_a_database_of_its_own_is_refused() -> None:
    with pytest.raises(UsageError, match="always of this release"):
        upgrade_store("sqlite://")
    with closing(Kit("sqlite://")) as kit, sqlalchemy.create_engine("sqlite://").connect() as connection:
        assert url_elsewhere(kit.engine.store) is None
        with pytest.raises(UsageError, match="runs in memory"):
            kit.client.within(connection)


def test_the_password_is_for_other_processes_and_not_for_messages() -> None:
    from orchestrator.store.postgres_url import read_url

    url = "postgresql://me:secret@host/db?schema=mine"
    assert read_url(url).url == url
    assert "secret" not in read_url(url).shown
