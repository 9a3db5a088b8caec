"""Commits that are stored, and told as of unknown fate: nothing stands still after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.errors import StoreError
from orchestrator.store.contract import Transaction
from tests.support.engine_kit import Kit, flow_of

CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.engine_handlers
attributes: {total: {type: integer, initial: 0}}
start: Split
steps:
  Split: {go_to_many: [{step: Left}, {step: Right}, {step: Gather}], join: both}
  Left: {execute: attempt_of, set: {total: "${attributes.total + 1}"}, go_to: Late}
  Late: {execute: attempt_of, set: {total: "${attributes.total + 1}"}, report: {both: 1}, dead_end: true}
  Right: {execute: attempt_of, set: {total: "${attributes.total + 1}"}, report: {both: 1}, dead_end: true}
  Gather: {wait_for: {until: {join: both}}, graceful_complete: "${attributes.total}"}
joins: {both: integer}
"""
)


def make_fate_unknown(engine: Engine, monkeypatch: pytest.MonkeyPatch, is_next: Callable[[], bool]) -> None:
    """Each commit for which `is_next` says so is stored, and told as one of which nobody knows."""
    writing = engine.store.writing

    @contextmanager
    def write() -> Iterator[Transaction]:
        with writing() as transaction:
            yield transaction
        if is_next():
            raise StoreError("whether the last commit was stored is not known")

    monkeypatch.setattr(engine.store, "writing", write)


@pytest.mark.rule(156)
@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.parametrize("first", range(5))
def test_every_step_is_done_once_whichever_commits_they_are(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, every: int, first: int
) -> None:
    with closing(Engine(kit.path)) as engine:
        for number in range(3):
            Client(engine).start(CHAIN, f"run-{number}")
        worker = Worker(engine, concurrency=2)
        worker.start()
        commits = iter(range(1_000_000))
        make_fate_unknown(
            engine,
            monkeypatch,
            lambda: (count := next(commits)) < 60 and count >= first and count % every == 0,
        )
        runs: list[dict[str, Any]] = [worker.run_until_closed(f"run-{number}") for number in range(3)]
        worker.stop(grace=10)
        assert [run["outputs"][0]["output"] for run in runs] == [3, 3, 3]
        for number in range(3):
            history = Client(engine).history(f"run-{number}")
            ended = [each["step_execution_id"] for each in history if each["event"] == "ExecuteSucceeded"]
            assert sorted(ended) == ["Late-1", "Left-1", "Right-1", "Split-1"]
