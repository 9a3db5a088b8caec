"""Several processes commit at the same time; none waits for a run while it holds a later one."""

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from orchestrator.core import changes as c
from orchestrator.core.state import Run
from orchestrator.engine.conflicts import persistently
from orchestrator.errors import StoreConflict
from orchestrator.store import postgres_link
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from tests.stores.committing import NOW, begin, commit, execution
from tests.support import postgres


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.database() as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture
def other(url: str, store: Store) -> Iterator[Store]:
    other = open_store(url)
    yield other
    other.close()


def look_at(store: Store, *numbers: int) -> None:
    with store.writing() as transaction:
        for number in numbers:
            transaction.versions([number])


def test_a_lock_out_of_order_is_not_waited_for(store: Store, other: Store) -> None:
    first, _ = begin(store, "a")
    second, _ = begin(store, "b")
    with other.writing() as transaction:
        transaction.versions([first])
        with pytest.raises(StoreConflict):
            look_at(store, second, first)


def test_the_next_try_locks_all_of_them_at_once_and_waits(store: Store, other: Store) -> None:
    first, _ = begin(store, "a")
    second, _ = begin(store, "b")
    done = threading.Event()

    def look_again() -> None:
        look_at(store, second, first)
        done.set()

    with other.writing() as transaction:
        transaction.versions([first])
        with pytest.raises(StoreConflict):
            look_at(store, second, first)
        thread = threading.Thread(target=look_again)
        thread.start()
        assert not done.wait(0.1)
    assert done.wait(10)
    thread.join()


def test_work_of_a_run_that_another_is_writing_is_passed_over(store: Store, other: Store) -> None:
    busy, _ = begin(store, "a", execution("A"))
    free, _ = begin(store, "b", execution("B"))
    with store.writing() as transaction:
        worker = transaction.register_worker(NOW, "host", 1, "")
    with other.writing() as held:
        held.versions([busy])
        with store.writing() as transaction:
            assert [each.run for each in transaction.claim(worker, NOW, 10, [])] == [free]
            assert transaction.next_due_at([]) == NOW, "there is more, for who looks again"


def test_two_that_start_one_flow_id_make_one_run(store: Store, other: Store) -> None:
    begin(store, "warm")
    together = threading.Barrier(2)
    found: list[bool] = []

    def start(on: Store) -> None:
        is_first = True

        def attempt() -> None:
            nonlocal is_first
            with on.writing() as transaction:
                latest = transaction.find_latest("a")
                if is_first:
                    is_first = False
                    together.wait(10)
                if latest is None:
                    run = Run()
                    commit(transaction, transaction.next_run_number(), run, c.RunOpened("a", "r", NOW))
            found.append(latest is not None)

        persistently(attempt)

    threads = [threading.Thread(target=start, args=(each,)) for each in (store, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == [False, True]


def test_a_worker_is_not_buried_while_it_commits_and_commits_nothing_afterwards(
    store: Store, other: Store
) -> None:
    number, run = begin(store, "a")
    with store.writing() as transaction:
        worker = transaction.register_worker(NOW, "host", 1, "")
    buried = threading.Event()

    def bury() -> None:
        with other.writing() as transaction:
            transaction.bury_worker(worker)
        buried.set()

    with store.writing() as transaction:
        transaction.versions([number])
        assert transaction.is_alive(worker)
        thread = threading.Thread(target=bury)
        thread.start()
        assert not buried.wait(0.1)
        commit(transaction, number, run, c.AttributeSet("n", None, 1))
    assert buried.wait(10)
    thread.join()
    with pytest.raises(StoreConflict):
        claim(store, worker)
    assert claim(store, worker) == []
    with store.writing() as transaction:
        assert not transaction.is_alive(worker)


def claim(store: Store, worker: int) -> list[int]:
    with store.writing() as transaction:
        return [each.run for each in transaction.claim(worker, NOW, 10, [])]


def test_a_definition_pruned_by_others_is_noticed_by_who_starts_with_it(store: Store, other: Store) -> None:
    """Nothing was ever stored with it, as if it had been pruned."""

    def start() -> None:
        with store.writing() as transaction:
            commit(transaction, transaction.next_run_number(), Run(), c.RunOpened("a", "r", NOW))

    with store.writing() as transaction:
        before = transaction.definitions_epoch
    with pytest.raises(StoreConflict):
        start()
    with store.writing() as transaction:
        assert transaction.definitions_epoch > before, "it is stored again"
        assert transaction.find_latest("a") is None


def test_who_is_frozen_in_the_middle_of_a_transaction_holds_nobody_up(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = begin(store, "a")
    monkeypatch.setattr(postgres_link, "LONGEST_IDLE", 100)
    frozen = open_store(url)

    def freeze() -> None:
        with frozen.writing() as transaction:
            transaction.versions([first])
            look_at(store, first)
            transaction.versions([first + 1])

    with pytest.raises(StoreConflict, match="connection was lost"):
        freeze()
    look_at(frozen, first)
    frozen.close()


def test_a_handler_that_was_lent_the_connection_has_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_link, "LONGEST_IDLE", 100)
    store = open_store(url)
    with store.writing() as transaction, transaction.lend() as loan:
        threading.Event().wait(0.5)
        assert loan.connection.execute(text("SELECT 1")).scalar() == 1
    store.close()
