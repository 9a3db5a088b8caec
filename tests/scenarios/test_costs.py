"""What a step costs, in counts that no neighbour disturbs (docs/performance.md has the seconds)."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest

from orchestrator.engine import wishes
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.explain.text import explanation_as_text
from orchestrator.store.sqlite_writing import SqliteTransaction
from orchestrator.store.writes import Writes
from tests.benchmarks import flows
from tests.support.single_threaded import SingleThreaded

FLOW_COUNT, STEP_COUNT = 100, 10


class Bench:
    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.transactions: list[list[str]] = []
        """The statements of each."""
        self.engine = Engine(str(path))
        self.client = Client(self.engine)
        self.workplace = SingleThreaded(self.engine)
        write = SqliteTransaction.write

        def note(transaction: SqliteTransaction, writes: Writes) -> None:
            self.transactions.append([name for name, _ in writes.in_order()])
            write(transaction, writes)

        monkeypatch.setattr(SqliteTransaction, "write", note)

    def work(self) -> int:
        """Until nothing is left; how many steps it were."""
        self.engine.committer.lead()
        self.transactions.clear()
        step_count = 0
        while done_count := self.workplace.work():
            step_count += done_count
        return step_count


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = Bench(tmp_path / "runs.db", monkeypatch)
    yield bench
    bench.engine.close()


def test_a_lone_step_is_one_transaction_of_four_statements(bench: Bench) -> None:
    bench.client.start(flows.sequence(STEP_COUNT), "lone")
    assert bench.work() == STEP_COUNT == len(bench.transactions)
    assert {tuple(names) for names in bench.transactions[:-1]} == {
        ("update_run", "delete_step", "insert_step", "insert_history")
    }
    assert len(bench.transactions[-1]) <= 4


def test_what_is_ready_together_is_one_transaction(bench: Bench) -> None:
    start_together(bench)
    assert bench.work() == FLOW_COUNT * STEP_COUNT
    assert len(bench.transactions) == STEP_COUNT
    assert max(len(names) for names in bench.transactions) <= 4


def test_a_wide_join_is_stored_in_few_statements(bench: Bench) -> None:
    bench.client.start(flows.fan_out(), "wide", list(range(400)))
    assert bench.work() == 400
    assert len(bench.transactions) == 1  # all branches, and the join
    assert len(bench.transactions[0]) <= 8


def test_a_step_takes_few_calls(bench: Bench) -> None:
    """Of Python functions, with those of the test: 99 when this was written (decisions/0031)."""
    start_together(bench)
    bench.workplace.work()
    assert count_calls(bench.workplace.work) / FLOW_COUNT < 115


def test_who_looks_at_a_long_history_makes_few_calls_a_commit(bench: Bench) -> None:
    """29 when this was written; 423 when annotations were read for each change."""
    bench.client.start(flows.loop(), "long", 60)
    assert bench.work() == 60
    assert count_calls(lambda: bench.client.history("long")) / 61 < 45


def test_many_waits_are_explained_with_few_calls_for_each(bench: Bench) -> None:
    """37 when this was written; 330 when each had a pattern of its own, more than Python keeps."""
    bench.client.start(flows.message(), "one")
    bench.workplace.work()
    explained = bench.client.explain("one")
    (wait,) = explained["active"]
    assert wait["wait"] is not None
    retry = "orchestrator retry-now one Wait-{}"
    explained["active"] = [
        {
            **wait,
            "step_execution_id": f"Wait-{number}",
            "help": [{"text": "retry", "command": retry.format(number)}],
        }
        for number in range(600)
    ]
    assert "Wait-0, Wait-1, Wait-2 and 597 more" in explanation_as_text(explained)
    assert count_calls(lambda: explanation_as_text(explained)) / 600 < 60


def count_calls(action: Callable[[], object]) -> int:
    """Of Python functions."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_a_step_is_stored_in_few_bytes(bench: Bench, tmp_path: Path) -> None:
    """Beside what the tables themselves take (docs/performance.md)."""
    bench.client.start(flows.loop(), "long", 60)
    assert bench.work() == 60
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        size = "length(kind) + length(execution_id) + length(body)"
        (size,) = connection.execute(f"SELECT max({size}) FROM history WHERE version > 1").fetchone()
    assert size <= 66


def start_together(bench: Bench) -> None:
    flow = flows.sequence(STEP_COUNT)
    for number in range(FLOW_COUNT):
        bench.engine.committer.submit(wishes.start(flow, (), f"f{number}"))
    bench.engine.committer.lead()
