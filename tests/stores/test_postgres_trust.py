"""A commit about runs that nobody else touches is one round trip; when somebody did, it fails and asks."""

import contextlib
import threading
from collections.abc import Iterator

import psycopg
import pytest

from orchestrator.core import changes as c
from orchestrator.core.state import Run
from orchestrator.engine.conflicts import persistently
from orchestrator.errors import StoreConflict, StoreError
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.postgres_link import Link
from orchestrator.store.postgres_wire import Answer, Call, Wire
from tests.stores.committing import FLOW, NOW, begin, commit, execution
from tests.support import postgres


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
def other(url: str, store: Store) -> Iterator[Store]:
    other = open_store(url)
    yield other
    other.close()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each one had."""
    counts: list[int] = []
    send = Wire.send

    def count(wire: Wire, calls: list[Call]) -> list[Answer]:
        counts.append(sum(len(call.parameters) if call.is_many else 1 for call in calls))
        return send(wire, calls)

    monkeypatch.setattr(Wire, "send", count)
    return counts


def report(store: Store, number: int, run: Run, *changes: c.Change) -> int:
    """What the engine does when a handler has returned; the version that it was decided on."""
    with store.writing() as transaction:
        transaction.prepare([], [], [number])
        version = transaction.versions([number])[number].version
        run.version = version
        commit(transaction, number, run, *(changes or [c.AttributeSet("n", None, version)]))
    return version


def change(store: Store, number: int) -> None:
    """Again, if it was changed by others meanwhile."""

    def attempt() -> None:
        report(store, number, Run(flow_id="a", run_id="id of a"))

    persistently(attempt)


def versions(store: Store, number: int) -> list[int]:
    with store.reading() as reading:
        return [row.version for row in reading.history(number)]


def test_a_commit_about_a_run_of_ours_is_one_message_of_few_statements(
    store: PostgresStore, messages: list[int]
) -> None:
    number, run = begin(store, "a")
    messages.clear()
    for _ in range(5):
        report(store, number, run)
    demand, update_run, set_attribute, history = [1] * 4
    assert messages == [demand + update_run + set_attribute + history] * 5
    assert versions(store, number) == [1, 2, 3, 4, 5, 6]


def test_nothing_is_sent_where_nothing_is_to_be_said(store: PostgresStore, messages: list[int]) -> None:
    number, _ = begin(store, "a")
    messages.clear()
    with store.writing() as transaction:
        transaction.prepare([], [], [number])
        assert transaction.versions([number])[number].version == 1
        assert not transaction.pauses
    assert messages == []


def test_what_others_have_changed_meanwhile_is_not_overwritten_but_looked_at(
    store: PostgresStore, other: Store, messages: list[int]
) -> None:
    number, run = begin(store, "a")
    change(other, number)
    with pytest.raises(StoreConflict):
        report(store, number, run)
    assert versions(store, number) == [1, 2]
    assert report(store, number, run) == 2


def test_a_run_that_others_change_too_is_locked_first_until_they_have_left_it_alone_for_a_while(
    store: PostgresStore, other: Store, messages: list[int]
) -> None:
    number, run = begin(store, "a")
    change(other, number)
    with pytest.raises(StoreConflict):
        report(store, number, run)
    report(store, number, run)
    change(other, number)
    report(store, number, run)  # no conflict: it was locked and found
    counts = []
    for _ in range(20):
        messages.clear()
        report(store, number, run)
        counts.append(len(messages))
    assert counts == sorted(counts, reverse=True)
    assert set(counts) == {2, 1}
    assert messages == [4], "demand, run, attribute, history"


def test_a_run_whose_due_work_is_left_to_others_is_locked_first(
    store: PostgresStore, messages: list[int]
) -> None:
    number, run = begin(store, "a")
    report(store, number, run, c.StepQueued(execution("A")))
    messages.clear()
    report(store, number, run)
    assert len(messages) == 2
    report(store, number, run)
    assert len(messages) == 3


def test_a_message_that_is_a_transaction_is_stored_whole_or_not_at_all(store: PostgresStore) -> None:
    number, run = begin(store, "a")

    def fail_last() -> None:
        with store.writing() as transaction:
            transaction.prepare([], [], [number])
            commit(transaction, number, run, c.AttributeSet("n", None, 1))
            assert transaction.proof is not None
            transaction.link.defer("insert_history", *transaction.proof)  # a row that is there already

    with pytest.raises(StoreConflict):
        fail_last()
    assert versions(store, number) == [1]
    with store.reading() as reading:
        head = reading.find_run(number)
        assert head is not None
        assert head.version == 1
        assert not reading.load(head).run.attributes


@pytest.mark.parametrize("setting", ["isolation=serializable", "pooler=transaction"])
def test_where_a_message_may_not_be_a_transaction_it_begins_and_ends_one(
    setting: str, messages: list[int]
) -> None:
    with postgres.database() as url, contextlib.closing(open_store(f"{url}&{setting}")) as store:
        assert isinstance(store, PostgresStore)
        number, run = begin(store, "a")
        messages.clear()
        report(store, number, run)
    begun, demand, update_run, set_attribute, history, end = [1] * 6
    assert messages == [begun + demand + update_run + set_attribute + history + end]


@pytest.mark.rule(156)
def test_a_worker_that_others_have_buried_commits_nothing(store: PostgresStore, other: Store) -> None:
    number, run = begin(store, "a")
    with store.writing() as transaction:
        worker = transaction.register_worker(NOW, "host", 1, "")
    report(store, number, run)
    with other.writing() as transaction:
        transaction.bury_worker(worker)
    with pytest.raises(StoreConflict):
        report(store, number, run)
    assert versions(store, number) == [1, 2]
    with store.writing() as transaction:
        transaction.prepare([], [], [number])
        assert not transaction.is_alive(worker)
        assert not transaction.are_leases_kept


def test_what_was_paused_by_others_is_seen_by_the_next_commit(store: PostgresStore, other: Store) -> None:
    number, run = begin(store, "a")
    with other.writing() as transaction:
        transaction.pause("F", None, NOW)
        transaction.pause("F", "ü, €", NOW)
    with pytest.raises(StoreConflict):
        report(store, number, run)
    with store.writing() as transaction:
        transaction.prepare([], [], [number])
        assert transaction.pauses.covers("F", "A")
        assert transaction.pauses == other_pauses(other)
    assert report(store, number, run) == 1, "now it is known"
    with other.writing() as transaction:
        transaction.resume("F", None)
        transaction.resume("F", "ü, €")
    with pytest.raises(StoreConflict):
        report(store, number, run)
    with store.writing() as transaction:
        assert not transaction.pauses


def other_pauses(store: Store) -> object:
    with store.reading() as reading:
        return reading.find_pauses()


@pytest.mark.parametrize("asked", [{"runs": True}, {"flow_ids": True}], ids=["by-number", "by-flow-id"])
def test_what_is_said_about_a_run_is_true_although_nothing_of_it_is_written(
    store: PostgresStore, other: Store, asked: dict[str, bool], messages: list[int]
) -> None:
    """A reading RPC, say, or a message that is refused: nothing is written that could fail."""
    number, _ = begin(store, "a")

    def look() -> int:
        with store.writing() as transaction:
            transaction.prepare([number] * ("runs" in asked), ["a"] * ("flow_ids" in asked))
            head = transaction.find_latest("a")
            assert head is not None
            return transaction.versions([head.run])[head.run].version

    messages.clear()
    assert look() == 1
    assert len(messages) == 2, "locked, and let go"
    change(other, number)
    with pytest.raises(StoreConflict):
        look()
    assert look() == 2


def test_a_request_to_a_run_that_nobody_else_touches_is_one_message(
    store: PostgresStore, messages: list[int]
) -> None:
    number, run = begin(store, "a")
    messages.clear()
    with store.writing() as transaction:
        transaction.prepare([], ["a"])
        head = transaction.find_latest("a")
        assert head is not None
        assert transaction.versions([head.run])[number].is_latest
        commit(transaction, number, run, c.AttributeSet("n", None, 1))
    assert len(messages) == 1
    assert versions(store, number) == [1, 2]


def test_a_run_taken_for_unchanged_is_locked_as_soon_as_anything_is_asked(
    store: PostgresStore, other: Store
) -> None:
    number, _ = begin(store, "a")
    another, _ = begin(store, "b")
    change(other, number)

    def look() -> None:
        with store.writing() as transaction:
            transaction.prepare([], [], [number])
            transaction.versions([number])
            transaction.versions([another])

    with pytest.raises(StoreConflict, match="changed by others"):
        look()


def start(store: Store, flow_id: str) -> bool:
    """Is it a new one?"""
    with store.writing() as transaction:
        transaction.prepare([], [], [], [flow_id])
        if transaction.find_latest(flow_id) is not None:
            return False
        transaction.save_definition(FLOW.hash, FLOW.name, "f.flow.yaml", "flow: F", NOW)
        opened = c.RunOpened(flow_id, f"id of {flow_id}", NOW)
        commit(transaction, transaction.next_run_number(), Run(), opened)
    return True


def test_a_run_is_started_in_one_message_where_flow_ids_are_new(
    store: PostgresStore, messages: list[int]
) -> None:
    for number in range(8):
        start(store, f"warm {number}")
    messages.clear()
    assert start(store, "a")
    assert len(messages) == 1


def test_a_flow_id_that_others_have_is_found_and_the_next_ones_are_looked_for_first(
    store: PostgresStore, other: Store, messages: list[int]
) -> None:
    for number in range(8):
        start(store, f"warm {number}")
    begin(other, "a")
    with pytest.raises(StoreConflict):
        start(store, "a")
    assert not start(store, "a")
    messages.clear()
    assert not start(store, "a"), "no conflict: it is known"
    messages.clear()
    assert start(store, "b")
    assert len(messages) == 2


def test_who_reads_again_and_again_uses_one_connection_and_one_message_each(
    store: PostgresStore, messages: list[int]
) -> None:
    number, _ = begin(store, "a")
    readers = []
    for _ in range(5):
        assert versions(store, number) == [1]
        readers.append(store._readers[0])
    assert len(set(map(id, readers))) == 1
    messages.clear()
    assert versions(store, number) == [1]
    assert len(messages) == 1


def lose_answers(monkeypatch: pytest.MonkeyPatch, *, is_executed: bool) -> None:
    """The next message of a commit: executed, and its answer lost; or lost before the server has read it."""
    send = Link._send

    def lose(link: Link, calls: list[Call]) -> list[Answer]:
        monkeypatch.undo()
        if is_executed:
            send(link, calls)
        link.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(Link, "_send", lose)


def test_a_commit_of_one_message_whose_answer_is_lost_is_looked_up(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, run = begin(store, "a")
    lose_answers(monkeypatch, is_executed=True)
    report(store, number, run)
    assert versions(store, number) == [1, 2]


def lose_questions(monkeypatch: pytest.MonkeyPatch, name: str, count: int) -> None:
    """The connection that asks such a thing is lost, so many times."""
    ask, left = Link.all, [count]

    def lose(link: Link, asked: str, *parameters: object) -> list[tuple[object, ...]]:
        if asked == name and left[0] > 0:
            left[0] -= 1
            link.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return ask(link, asked, *parameters)

    monkeypatch.setattr(Link, "all", lose)


def hold_message(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """The next message is on its way when its connection is lost."""
    late: list[Call] = []

    def hold(link: Link, calls: list[Call]) -> list[Answer]:
        opening = [] if link.opening is None else link.opening()
        late.extend([*opening, *link._waiting, *calls])
        monkeypatch.undo()
        link.connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(Link, "_send", hold)
    return late


@pytest.mark.parametrize("question", ["fence", "history_of"])
def test_whoever_is_cut_off_while_looking_a_commit_up_looks_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    number, run = begin(store, "a")
    with monkeypatch.context() as patched:
        lose_answers(patched, is_executed=True)
        lose_questions(monkeypatch, question, count=2)
        report(store, number, run)
    assert versions(store, number) == [1, 2]


@pytest.mark.parametrize("question", ["fence", "history_of"])
def test_a_commit_that_cannot_be_looked_up_is_not_taken_for_undone(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    number, run = begin(store, "a")
    with monkeypatch.context() as patched:
        lose_answers(patched, is_executed=True)
        lose_questions(monkeypatch, question, count=1000)
        with pytest.raises(StoreError, match="whether the last commit was stored is not known") as raised:
            report(store, number, run)
    assert not isinstance(raised.value, StoreConflict)


def test_a_commit_of_one_message_that_never_arrived_is_done_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, run = begin(store, "a")
    lose_answers(monkeypatch, is_executed=False)
    with pytest.raises(StoreConflict, match="connection was lost"):
        report(store, number, run)
    assert report(store, number, run) == 1
    assert versions(store, number) == [1, 2]


def test_a_commit_that_arrives_after_it_was_given_up_for_lost_changes_nothing(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy, say, had it all the time: the lock of the lost connection is held by who has looked."""
    number, run = begin(store, "a")
    late = hold_message(monkeypatch)
    with pytest.raises(StoreConflict, match="connection was lost"):
        report(store, number, run)
    arrived = open_store(url)
    assert isinstance(arrived, PostgresStore)
    assert arrived._writer is not None
    with pytest.raises(psycopg.errors.DivisionByZero):
        arrived._writer._wire.send(late)
    arrived.close()
    assert versions(store, number) == [1]


def test_a_commit_that_arrives_when_whoever_looked_it_up_is_cut_off_is_not_done_again(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With that connection the lock is gone, too."""
    number, run = begin(store, "a")
    late = hold_message(monkeypatch)
    with pytest.raises(StoreConflict, match="connection was lost"):
        report(store, number, run)
    assert store._writer is not None
    store._writer.close()
    arrived = open_store(url)
    assert isinstance(arrived, PostgresStore)
    assert arrived._writer is not None
    wait_until_free(arrived, store)
    arrived._writer._wire.send(late)
    arrived.close()
    with pytest.raises(StoreError, match="whether the last commit was stored is not known") as raised:
        report(store, number, run)
    assert not isinstance(raised.value, StoreConflict)
    assert versions(store, number) == [1, 2]
    begin(store, "b")


@pytest.mark.parametrize("question", ["fence", "history_of"])
def test_whoever_is_cut_off_once_more_before_it_is_done_again_still_looks_it_up(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    number, run = begin(store, "a")
    late = hold_message(monkeypatch)
    with pytest.raises(StoreConflict, match="connection was lost"):
        report(store, number, run)
    lose_questions(monkeypatch, question, count=1)
    with pytest.raises(StoreError, match="server closed the connection"):
        report(store, number, run)
    arrived = open_store(url)
    assert isinstance(arrived, PostgresStore)
    assert arrived._writer is not None
    wait_until_free(arrived, store)
    arrived._writer._wire.send(late)
    arrived.close()
    with pytest.raises(StoreError, match="whether the last commit was stored is not known"):
        report(store, number, run)
    assert versions(store, number) == [1, 2]


def wait_until_free(arrived: PostgresStore, store: PostgresStore) -> None:
    """The server has noticed that the other connection was closed."""
    assert arrived._writer is not None
    (stray,) = store._strays
    while not arrived._writer.all("fence", stray.fence)[0][0]:
        threading.Event().wait(0.01)


def test_a_commit_of_one_message_that_the_server_is_busy_with_is_waited_for(
    store: PostgresStore, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, run = begin(store, "a")
    assert store._writer is not None
    fence, is_looked_for = store._writer.fence, threading.Event()
    ask = Link.all

    def notice(link: Link, name: str, *parameters: object) -> list[tuple[object, ...]]:
        rows = ask(link, name, *parameters)
        if name == "fence" and not rows[0][0]:
            is_looked_for.set()
        return rows

    monkeypatch.setattr(Link, "all", notice)
    holder = psycopg.connect(postgres.server_url())
    holder.execute("SELECT pg_advisory_xact_lock(%s)", [fence])  # as the commit that is under way

    def let_go_when_it_is_looked_for() -> None:
        is_looked_for.wait(60)
        holder.close()

    let_go = threading.Thread(target=let_go_when_it_is_looked_for)
    let_go.start()
    with monkeypatch.context() as patched:
        lose_answers(patched, is_executed=False)
        with pytest.raises(StoreConflict):
            report(store, number, run)
    let_go.join()
    assert is_looked_for.is_set()
