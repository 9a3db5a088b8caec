"""Runs that are loaded after they were announced are those that are loaded without."""

from __future__ import annotations

from orchestrator.core import changes as c
from orchestrator.store.contract import Store
from tests.stores.committing import begin, commit, execution


def test_announced_runs_are_loaded_as_they_are(store: Store, other: Store) -> None:
    made = [begin(store, f"run-{number}", execution("A")) for number in range(3)]
    numbers = [number for number, _ in made]
    with store.writing() as transaction:
        plain = [transaction.load(head) for head in map(transaction.find_run, numbers) if head is not None]
    with other.writing() as transaction:
        transaction.preload(numbers)
        heads = [transaction.find_run(number) for number in reversed(numbers)]
        loaded = [transaction.load(head) for head in heads if head is not None]
        assert loaded[::-1] == plain
    number, run = made[1]
    with other.writing() as transaction:
        commit(transaction, number, run, c.AttributeSet("n", None, 1))
    with store.writing() as transaction:
        transaction.preload([number])
        head = transaction.find_run(number)
        assert head is not None
        assert transaction.load(head).run.attributes == {"n": 1}
