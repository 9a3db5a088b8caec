"""Several processes that make the tables of one store at the same time."""

import threading

import psycopg

from orchestrator.store.migrations import SCHEMA_VERSION
from orchestrator.store.postgres_database import _alone, _install, demand_release
from orchestrator.store.postgres_link import Dialect, connect
from orchestrator.store.postgres_url import read_url
from tests.support import postgres

WAITS_FOR_LOCK = "SELECT count(*) FROM pg_locks WHERE pid = %s AND locktype = 'advisory' AND NOT granted"


def test_who_waited_while_others_made_the_tables_finds_them() -> None:
    """What the server remembers of names is not looked up anew while one waits for a lock."""
    with postgres.database() as url, psycopg.connect(read_url(url).conninfo, autocommit=True) as server:
        address = read_url(url)
        dialect = Dialect(address.schema)
        first, second = connect(address, dialect), connect(address, dialect)
        found: list[tuple[int, int]] = []

        def open_second() -> None:
            found.append(demand_release(second, dialect, url))

        opening = threading.Thread(target=open_second)
        with _alone(first, dialect):
            opening.start()
            await_waiter(server, second.connection.info.backend_pid)
            _install(first, dialect)
        opening.join(60)
        first.close()
        second.close()
    assert found == [(SCHEMA_VERSION, SCHEMA_VERSION)]


def await_waiter(server: "psycopg.Connection[tuple[int, ...]]", pid: int) -> None:
    for _ in range(6000):
        if server.execute(WAITS_FOR_LOCK, [pid]).fetchone() == (1,):
            return
        server.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("the second one never waits")
