"""Connections that are lost: nothing is lost with them, and nothing is done twice."""

import os
import select
import socket
import threading
from collections.abc import Iterator

import psycopg
import pytest

from orchestrator.core import changes as c
from orchestrator.core.state import Run
from orchestrator.errors import StoreConflict, StoreError, UsageError
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.postgres_link import Link
from orchestrator.store.postgres_url import read_url
from tests.stores.committing import begin, commit
from tests.support import postgres

SLOW_COMMIT = """
CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON history DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION sleep()
"""
AT_COMMIT = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.database() as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = open_store(url)
    assert isinstance(store, PostgresStore)
    yield store
    store.close()


@pytest.fixture
def server(url: str) -> Iterator["psycopg.Connection[tuple[int, ...]]"]:
    with psycopg.connect(read_url(url).conninfo, autocommit=True) as connection:
        yield connection


def writer_of(store: PostgresStore) -> "psycopg.Connection[tuple[int, ...]]":
    link = store._writer
    assert link is not None
    return link.connection


def set_attribute(store: Store, number: int, run: Run) -> None:
    with store.writing() as transaction:
        transaction.prepare([number], [])
        commit(transaction, number, run, c.AttributeSet("n", None, 1))


def set_attribute_after_a_question(store: Store, number: int, run: Run) -> None:
    """So that the transaction has a number, and ends with COMMIT."""
    with store.writing() as transaction:
        assert transaction.versions([number])
        commit(transaction, number, run, c.AttributeSet("n", None, 1))


def versions(store: Store, number: int) -> list[int]:
    with store.reading() as reading:
        return [row.version for row in reading.history(number)]


def test_a_transaction_whose_connection_is_lost_is_to_be_done_again(
    store: PostgresStore, server: "psycopg.Connection[tuple[int, ...]]"
) -> None:
    number, run = begin(store, "a")

    def lose() -> None:
        with store.writing() as transaction:
            transaction.prepare([number], [])
            server.execute("SELECT pg_terminate_backend(%s, 5000)", [writer_of(store).info.backend_pid])
            commit(transaction, number, run, c.AttributeSet("n", None, 1))

    with pytest.raises(StoreConflict, match="connection was lost"):
        lose()
    assert versions(store, number) == [1]
    with store.reading() as reading:
        head = reading.find_run(number)
        assert head is not None
        again = reading.load(head).run
    set_attribute(store, number, again)
    assert versions(store, number) == [1, 2]


def test_a_reader_that_the_server_has_closed_is_replaced(
    store: PostgresStore, server: "psycopg.Connection[tuple[int, ...]]"
) -> None:
    number, _ = begin(store, "a")
    assert versions(store, number) == [1]
    (reader,) = store._readers
    server.execute("SELECT pg_terminate_backend(%s, 5000)", [reader.connection.info.backend_pid])
    select.select([reader.connection.fileno()], [], [], 60)
    assert versions(store, number) == [1]
    assert store._readers != [reader]


@pytest.mark.parametrize(
    "last_words", [psycopg.OperationalError, psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown]
)
def test_a_commit_whose_answer_is_lost_is_looked_up(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, last_words: type[psycopg.OperationalError]
) -> None:
    """A server that shuts down says so, and what it says comes before the end of the connection."""
    number, run = begin(store, "a")
    flush, lost = Link.flush, []

    def lose_answer(link: Link) -> None:
        is_commit = bool(link._waiting) and link._waiting[-1].statement.text == b"COMMIT"
        flush(link)
        if is_commit:
            monkeypatch.undo()
            lost.append(link)
            if last_words is psycopg.OperationalError:
                link.close()
            raise last_words("the connection ends")

    monkeypatch.setattr(Link, "flush", lose_answer)
    set_attribute_after_a_question(store, number, run)
    assert len(lost) == 1
    assert versions(store, number) == [1, 2]


@pytest.mark.parametrize("question", ["fate", "history_of"])
@pytest.mark.parametrize("is_found", [True, False])
def test_a_transaction_whose_look_up_is_cut_off_is_looked_up_again_or_told_as_unknown(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, question: str, is_found: bool
) -> None:
    number, run = begin(store, "a")
    flush, ask, left = Link.flush, Link.all, [2 if is_found else 1000]

    def lose_answer(link: Link) -> None:
        is_commit = bool(link._waiting) and link._waiting[-1].statement.text == b"COMMIT"
        flush(link)
        if is_commit:
            link.close()
            raise psycopg.OperationalError("the connection ends")

    def lose_question(link: Link, name: str, *parameters: object) -> list[tuple[object, ...]]:
        if name == question and left[0] > 0:
            left[0] -= 1
            link.close()
            raise psycopg.OperationalError("so does this one")
        return ask(link, name, *parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Link, "flush", lose_answer)
        patched.setattr(Link, "all", lose_question)
        if is_found:
            set_attribute_after_a_question(store, number, run)
        else:
            with pytest.raises(StoreError, match="whether the last commit was stored is not known") as raised:
                set_attribute_after_a_question(store, number, run)
            assert not isinstance(raised.value, StoreConflict)
    assert versions(store, number) == [1, 2]


def test_a_commit_that_the_server_is_still_busy_with_is_waited_for(
    store: PostgresStore, server: "psycopg.Connection[tuple[int, ...]]"
) -> None:
    number, run = begin(store, "a")
    server.execute(SLOW_COMMIT)
    connection = writer_of(store)
    cut = threading.Thread(
        target=cut_at_commit, args=(server, connection.info.backend_pid, connection.fileno())
    )
    cut.start()
    set_attribute(store, number, run)
    cut.join()
    assert writer_of(store) is not connection
    assert versions(store, number) == [1, 2]


def cut_at_commit(server: "psycopg.Connection[tuple[int, ...]]", pid: int, file: int) -> None:
    """As a network does that is gone."""
    while True:
        row = server.execute(AT_COMMIT, [pid]).fetchone()
        if row == (1,):
            break
    with socket.socket(fileno=os.dup(file)) as cut:
        cut.shutdown(socket.SHUT_RDWR)


def test_behind_a_pooler_nothing_lives_longer_than_a_transaction(url: str) -> None:
    rung = threading.Event()
    store, other = open_store(f"{url}&pooler=transaction"), open_store(url)
    assert isinstance(store, PostgresStore)
    end = store.listen(rung.set)
    number, run = begin(store, "a")
    for _ in range(5):
        set_attribute(store, number, run)
    rung.clear()
    begin(other, "b")
    assert rung.wait(5)
    count = writer_of(store).execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
    assert count == (0,)
    end()
    store.close()
    other.close()


def test_who_listens_hears_others_and_not_itself(store: PostgresStore, url: str) -> None:
    mine, theirs = threading.Event(), threading.Event()
    other = open_store(url)
    ends = [store.listen(mine.set), other.listen(theirs.set)]
    with store.writing() as transaction:
        begin_quietly = transaction.pauses
        transaction.ring()
    assert theirs.wait(5)
    assert not mine.is_set()
    assert not begin_quietly
    for end in ends:
        end()
    other.close()


def test_a_call_for_work_is_told_from_a_ring_and_not_heard_by_who_calls(
    store: PostgresStore, url: str
) -> None:
    heard: list[str] = []
    called, rung, other = threading.Event(), threading.Event(), open_store(url)

    def note(what: str, event: threading.Event) -> None:
        heard.append(what)
        event.set()

    ends = [
        store.listen(lambda: heard.append("mine"), lambda: heard.append("mine")),
        other.listen(lambda: note("ring", rung), lambda: note("call", called)),
    ]
    with store.writing() as transaction:
        assert not transaction.pauses
        transaction.call_for_work()
    assert called.wait(5)
    store.ring()
    assert rung.wait(5)
    for end in ends:
        end()
    other.close()
    assert heard == ["call", "ring"]


def test_who_lost_its_ear_listens_anew(
    store: PostgresStore, url: str, server: "psycopg.Connection[tuple[int, ...]]"
) -> None:
    rung = threading.Event()
    end = store.listen(rung.set)
    listens = "query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
    server.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {listens}")
    assert rung.wait(10), "it looks at once: rings may have been missed"
    rung.clear()
    other = open_store(url)
    other.ring()
    assert rung.wait(10)
    end()
    other.close()


@pytest.mark.parametrize("option", ["isolation=fast", "pooler=session", "schema=", "schema=pg_own"])
def test_what_is_no_option_of_ours_is_refused(option: str) -> None:
    with pytest.raises(UsageError):
        read_url(f"postgresql://host/db?{option}")


def test_passwords_are_not_shown() -> None:
    address = read_url(
        "postgresql+psycopg://me:secret@host:5433/db?sslmode=require&password=secret&schema=mine"
    )
    assert address.shown == "postgresql://me@host:5433/db?sslmode=require&schema=mine"
    assert address.conninfo == "postgresql://me:secret@host:5433/db?sslmode=require&password=secret"
    assert address.schema == "mine"


def test_a_url_that_is_none_is_told_without_its_password() -> None:
    with pytest.raises(UsageError, match=r"`\[::1` is no database URL: Invalid IPv6 URL"):
        read_url("postgresql://u:secret@[::1")
