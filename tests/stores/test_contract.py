"""What every store does for the engine (contract.py); one run of this suite per database."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.state import Execution, Run
from orchestrator.errors import StoreConflict
from orchestrator.store.contract import Store
from tests.stores.committing import NOW, begin, commit, execution


def register(store: Store) -> int:
    with store.writing() as transaction:
        return transaction.register_worker(NOW + timedelta(seconds=10), "host", 1, "")


def claim(store: Store, worker: int, at: datetime = NOW, limit: int = 10) -> list[str]:
    with store.writing() as transaction:
        return [claimed.execution_id for claimed in transaction.claim(worker, at, limit, [])]


def test_a_run_is_loaded_as_it_was_written(store: Store, other: Store) -> None:
    _, run = begin(store, "a", execution("A"), execution("B"))
    with other.reading() as reading:
        head = reading.find_latest("a")
        assert head is not None
        assert reading.load(head).run == run
        assert (head.flow, head.definition, head.status, head.version) == ("F", "sha256:1", "RUNNING", 1)
        assert reading.find_latest("b") is None


def test_those_that_still_run_are_told_from_those_that_do_not(store: Store, other: Store) -> None:
    numbers = [begin(store, name)[0] for name in "abc"]
    with store.writing() as transaction:
        closing = transaction.find_run(numbers[1])
        assert closing is not None
        run = transaction.load(closing).run
        commit(transaction, numbers[1], run, c.RunClosed("COMPLETED", NOW))
    with other.reading() as reading:
        assert reading.running_among([*numbers, 4711]) == {numbers[0], numbers[2]}
        assert reading.running_among([]) == set()


def test_nothing_of_a_failed_transaction_is_stored(store: Store) -> None:
    def fail() -> None:
        with store.writing() as transaction:
            commit(transaction, transaction.next_run_number(), Run(), c.RunOpened("a", "r", NOW))
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        fail()
    with store.reading() as reading:
        assert list(reading.heads()) == []


def test_a_run_decided_on_an_old_version_is_not_written(store: Store, other: Store) -> None:
    number, run = begin(store, "a")
    with other.reading() as reading:
        head = reading.find_latest("a")
        assert head is not None
        theirs = reading.load(head).run
    with other.writing() as transaction:
        commit(transaction, number, theirs, c.AttributeSet("n", None, 1))
    with pytest.raises(StoreConflict, match="changed by another process"), store.writing() as transaction:
        commit(transaction, number, run, c.AttributeSet("n", None, 2))


def test_a_transaction_knows_whether_others_have_written(store: Store, other: Store) -> None:
    with store.writing() as transaction:
        before = transaction.epoch
    register(other)
    with store.writing() as transaction:
        assert transaction.epoch > before


def test_after_a_failure_nothing_is_taken_for_known(store: Store) -> None:
    with store.writing() as transaction:
        before = transaction.epoch
    with pytest.raises(ValueError, match="on purpose"), store.writing():
        raise ValueError("on purpose")
    with store.writing() as transaction:
        assert transaction.epoch > before


def test_history_catches_up_a_run_that_others_have_moved(store: Store, other: Store) -> None:
    number, run = begin(store, "a")
    with other.writing() as transaction:
        commit(transaction, number, run, c.AttributeSet("n", None, 1))
        commit(transaction, number, run, c.AttributeSet("n", None, 2))
    with store.writing() as transaction:
        assert transaction.versions([number])[number] == (3, True)
        assert [row.version for row in transaction.history(number, after_version=1)] == [2, 3]


def test_run_numbers_are_never_given_twice(store: Store, other: Store) -> None:
    numbers = [begin(each, f"{index}")[0] for index, each in enumerate((store, other, other, store))]
    assert len(set(numbers)) == 4


def test_the_oldest_due_work_is_claimed_first_and_once(store: Store, other: Store) -> None:
    second = NOW + timedelta(seconds=1)
    begin(
        store, "a", execution("Later", second), execution("Now"), execution("Never", NOW.replace(year=2031))
    )
    mine, theirs = register(store), register(other)
    assert claim(store, mine, NOW) == ["Now-1"]
    assert claim(other, theirs, second) == ["Later-1"]
    assert claim(store, mine, second) == []
    with store.writing() as transaction:
        assert transaction.next_due_at([]) == NOW.replace(year=2031)
        assert transaction.leases(1, ["Now-1", "Never-1"]) == {"Now-1": mine, "Never-1": None}


def test_work_of_excluded_definitions_is_left_alone(store: Store) -> None:
    begin(store, "a", execution("A"))
    worker = register(store)
    with store.writing() as transaction:
        assert transaction.claim(worker, NOW, 10, ["sha256:1"]) == []
        assert transaction.next_due_at(["sha256:1"]) is None
        assert transaction.next_due_at(["sha256:2"]) == NOW
        assert not transaction.is_busy(NOW, ["sha256:1"])
        assert transaction.is_busy(NOW)


def many(step: str, count: int) -> list[Execution]:
    return [replace(execution(step), number=number + 1) for number in range(count)]


def test_runs_take_turns_whatever_their_number_of_branches(store: Store) -> None:
    begin(store, "wide", *many("Wide", 50))
    worker = register(store)
    assert claim(store, worker, limit=3) == ["Wide-1", "Wide-2", "Wide-3"]
    begin(store, "lone", execution("Lone"))
    begin(store, "other", *many("Other", 50))
    assert sorted(claim(store, worker, limit=4)) == ["Lone-1", "Other-1", "Wide-4", "Wide-5"]
    claimed = claim(store, worker, limit=10)
    assert sum(each.startswith("Wide") for each in claimed) == 5


def test_runs_that_keep_coming_do_not_starve_one_that_waits(store: Store) -> None:
    begin(store, "wide", *many("Wide", 10))
    worker = register(store)
    claimed: list[str] = []
    for number in range(20):
        for twin in range(2):
            begin(store, f"late-{number}-{twin}", execution("Late"))
        claimed += claim(store, worker, limit=1)
    assert sum(each.startswith("Wide") for each in claimed) >= 4


def test_what_became_due_and_what_is_ready_share_a_claim(store: Store) -> None:
    later = NOW + timedelta(seconds=1)
    begin(store, "ready", *many("Ready", 20))
    begin(store, "timers", *(replace(each, due_at=later) for each in many("Timer", 20)))
    worker = register(store)
    claimed = claim(store, worker, at=later, limit=10)
    assert sum(each.startswith("Timer") for each in claimed) == 5
    singly = [each for _ in range(10) for each in claim(store, worker, at=later, limit=1)]
    assert sum(each.startswith("Timer") for each in singly) == 5
    assert len(claim(store, worker, at=later, limit=40)) == 20, "either may have all that the other leaves"


def test_what_a_dead_worker_had_does_not_wait_for_its_old_turn(store: Store) -> None:
    begin(store, "wide", *many("Wide", 50))
    dead, heir = register(store), register(store)
    assert "Wide-50" in claim(store, dead, limit=50)
    with store.writing() as transaction:
        transaction.bury_worker(dead)
    begin(store, "lone", *many("Lone", 200))
    assert "Wide-50" in claim(store, heir, limit=100)


def test_what_is_handed_back_can_be_claimed_again(store: Store) -> None:
    begin(store, "a", execution("A"))
    worker = register(store)
    claim(store, worker)
    with store.writing() as transaction:
        transaction.release(worker, [(1, "A-1")])
        (claimed,) = transaction.claim(worker, NOW, 10, [])
    assert not claimed.is_lost


def test_what_a_dead_worker_had_is_free_and_marked(store: Store) -> None:
    begin(store, "a", execution("A"), execution("B"))
    dead, heir = register(store), register(store)
    claim(store, dead)
    with store.writing() as transaction:
        assert transaction.bury_worker(dead) == 2
        assert [row.worker for row in transaction.workers()] == [heir]
        assert not transaction.renew_worker(dead, NOW)
        assert all(claimed.is_lost for claimed in transaction.claim(heir, NOW, 10, []))


def test_worker_numbers_are_never_used_again(store: Store) -> None:
    first = register(store)
    with store.writing() as transaction:
        transaction.bury_worker(first)
    assert register(store) > first


def test_a_definition_is_stored_once(store: Store) -> None:
    with store.writing() as transaction:
        transaction.save_definition("sha256:1", "F", "f.flow.yaml", "flow: F", NOW)
        transaction.save_definition("sha256:1", "F", "moved.flow.yaml", "# with a comment", NOW)
    with store.reading() as reading:
        definition = reading.definition("sha256:1")
        assert definition is not None
        assert (definition.path, definition.text) == ("f.flow.yaml", "flow: F")
        assert reading.definition("sha256:2") is None
