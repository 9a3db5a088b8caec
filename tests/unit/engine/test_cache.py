"""Which runs a process keeps in memory."""

from __future__ import annotations

from typing import Any, cast

from orchestrator.core.state import Run
from orchestrator.engine.cache import Entry, RunCache
from tests.benchmarks import flows

FLOW = flows.message()


def settled(cache: RunCache, number: int, *, is_held: bool = False, waiting_count: int = 0) -> Entry:
    entry = Entry(number, Run(flow_id=f"run-{number}"), FLOW, epoch=1)
    if is_held:
        entry.held["Wait-1"] = cast(Any, object())
    entry.waiting_count = waiting_count
    cache.add(entry)
    cache.settle(entry)
    return entry


def kept(cache: RunCache) -> list[int]:
    return [entry.number for entry in cache]


def test_of_parked_runs_those_of_the_last_commits_are_kept() -> None:
    cache = RunCache(capacity=10, parked_capacity=2)
    first = settled(cache, 1)
    settled(cache, 2)
    cache.settle(first)
    settled(cache, 3)
    assert kept(cache) == [1, 3]
    assert cache.latest("run-2") is None


def test_runs_that_are_worked_on_do_not_count_as_parked() -> None:
    cache = RunCache(capacity=10, parked_capacity=1)
    settled(cache, 1, is_held=True)
    settled(cache, 2, waiting_count=1)
    settled(cache, 3)
    assert kept(cache) == [1, 2, 3]


def test_a_run_that_is_taken_up_again_stays() -> None:
    cache = RunCache(capacity=10, parked_capacity=1)
    first = settled(cache, 1)
    first.held["Wait-1"] = cast(Any, object())  # claimed, without a commit of its own
    settled(cache, 2)
    settled(cache, 3)
    assert kept(cache) == [1, 3]
    assert first.epoch == 1


def test_a_run_that_was_dropped_is_no_longer_parked() -> None:
    cache = RunCache(capacity=10, parked_capacity=1)
    cache.drop(settled(cache, 1))
    settled(cache, 2)
    assert kept(cache) == [2]


def test_all_runs_together_are_bounded_too() -> None:
    cache = RunCache(capacity=2)
    for number in range(4):
        settled(cache, number)
    cache.trim()
    assert kept(cache) == [2, 3]
