"""What is needed together is asked together: one message to the server for it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import text

from orchestrator.core import changes as c
from orchestrator.store.opening import open_store
from orchestrator.store.postgres import PostgresStore
from orchestrator.store.postgres_wire import Answer, Call, Wire
from tests.stores.committing import NOW, begin, commit, execution
from tests.support import postgres


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    with postgres.database() as url:
        store = open_store(url)
        assert isinstance(store, PostgresStore)
        yield store
        store.close()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls each one had."""
    counts: list[int] = []
    send = Wire.send

    def count(wire: Wire, calls: list[Call]) -> list[Answer]:
        counts.append(len(calls))
        return send(wire, calls)

    monkeypatch.setattr(Wire, "send", count)
    return counts


def test_a_claim_knows_when_the_next_work_is_due(store: PostgresStore, messages: list[int]) -> None:
    begin(store, "a", execution("A"))
    begin(store, "b", execution("B", NOW + timedelta(hours=1)))
    with store.writing() as transaction:
        worker = transaction.register_worker(NOW + timedelta(seconds=30), "host", 1, "then")
    messages.clear()
    with store.writing() as transaction:
        assert len(transaction.claim(worker, NOW, 10, [])) == 1
        assert transaction.next_due_at([]) == NOW + timedelta(hours=1)
        assert len(messages) == 1
    with store.writing() as transaction:
        assert len(transaction.claim(worker, NOW + timedelta(hours=1), 10, [])) == 1
        assert transaction.next_due_at([]) is None
        assert len(messages) == 3


def test_runs_of_flow_ids_are_loaded_with_their_locks(store: PostgresStore, messages: list[int]) -> None:
    begun = [begin(store, flow_id, execution("A")) for flow_id in ("a", "b")]
    with store.writing() as transaction:
        loaded = [transaction.load(head) for head in map(transaction.find_latest, "ab") if head is not None]
    store._memory.is_wary = True
    messages.clear()
    with store.writing() as transaction:
        transaction.prepare([], ["a", "b", "c"], unloaded=["a", "b", "c"])
        heads = [transaction.find_latest(flow_id) for flow_id in ("a", "b")]
        again = [transaction.load(head) for head in heads if head is not None]
        assert transaction.find_latest("c") is None
        assert len(messages) == 1
    assert [each.head.run for each in again] == [number for number, _ in begun]
    assert again == loaded


def test_a_run_that_became_the_latest_while_its_predecessor_was_locked_is_not_taken_as_loaded(
    store: PostgresStore,
) -> None:
    """Whose lock one does not have may be written before one gets it."""
    number, run = begin(store, "a", execution("A"))
    with store.writing() as transaction:
        transaction._note_loaded({number + 1}, [(number, *(None,) * 8)])
        head = transaction.find_run(number)
        assert head is not None
        assert list(transaction.load(head).run.executions) == list(run.executions)


def test_what_others_have_committed_of_several_runs_is_read_at_once(
    store: PostgresStore, messages: list[int]
) -> None:
    made = [begin(store, f"run-{number}", execution("A")) for number in range(3)]
    with store.writing() as transaction:
        for number, run in made[:2]:
            commit(transaction, number, run, c.AttributeSet("n", None, 1))
    with store.writing() as transaction:
        numbers = [number for number, _ in made]
        transaction.prepare(numbers, [])
        messages.clear()
        transaction.preload([], [(number, 1) for number in numbers])
        assert [len(transaction.history(number, 1)) for number in numbers] == [1, 1, 0]
        assert len(messages) == 1
        assert len(transaction.history(numbers[0])) == 2


def test_what_is_lent_to_a_handler_plans_as_usual(store: PostgresStore) -> None:
    with store.writing() as transaction, transaction.lend() as loan:
        assert loan.connection.execute(text("SHOW enable_seqscan")).scalar() == "on"
    assert store._writer is not None
    assert store._writer.connection.execute("SHOW enable_seqscan").fetchone() == ("off",)
