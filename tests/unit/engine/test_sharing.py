"""Which worker calls for work, and what another one then gives back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from orchestrator.engine.pace import Pace
from orchestrator.engine.ready import CROWD, Ready
from orchestrator.engine.sharing import Sharing
from orchestrator.engine.submission import Return
from orchestrator.engine.task import Task
from tests.support.engine_kit import VirtualClock

THREADS = 4


class Stage:
    def __init__(self, ready_count: int = 0) -> None:
        self.ready = Ready()
        self.ready.put([cast(Task, SimpleNamespace(number=number)) for number in range(ready_count)])
        self.returned: list[Task] = []
        self.sharing = Sharing(self.ready, Pace(THREADS), VirtualClock(), THREADS, self._note)

    def _note(self, given: Return) -> None:
        self.returned.append(given.task)


def test_a_new_worker_that_finds_nothing_calls_once() -> None:
    sharing = Stage().sharing
    assert [sharing.calls(0) for _ in range(3)] == [True, False, False]


def test_it_calls_again_only_after_it_had_more_than_it_could_begin() -> None:
    sharing = Stage().sharing
    sharing.calls(0)
    assert not sharing.runs_dry(THREADS)
    assert not sharing.runs_dry(0)
    assert not sharing.calls(0)
    assert not sharing.runs_dry(THREADS + 1)
    assert not sharing.calls(THREADS + 1)
    assert sharing.runs_dry(THREADS - 1)
    assert sharing.calls(THREADS - 1)
    assert not sharing.calls(0)


def test_it_looks_once_for_work_when_it_runs_dry_whatever_it_finds() -> None:
    sharing = Stage().sharing
    sharing.runs_dry(THREADS + 1)
    assert [sharing.runs_dry(count) for count in (1, 0, 0)] == [True, False, False]


def test_a_worker_that_is_busy_does_not_call() -> None:
    assert not Stage().sharing.calls(THREADS)


def test_half_of_what_is_not_begun_at_once_is_given_away_the_latest_first() -> None:
    stage = Stage(ready_count=THREADS + 6)
    kept = list(stage.ready.line)[: THREADS + 3]
    assert stage.sharing.give_away()
    assert list(stage.ready.line) == kept
    assert len(stage.returned) == 3


def test_what_is_begun_at_once_is_kept() -> None:
    stage = Stage(ready_count=THREADS + 1)
    assert not stage.sharing.give_away()
    assert stage.returned == []


def test_of_what_comes_by_the_thousand_half_is_given_away_too() -> None:
    stage = Stage(ready_count=CROWD + 100 + THREADS)
    assert stage.sharing.give_away()
    assert len(stage.returned) == (CROWD + 100) // 2
    assert len(stage.ready.take_all()) == (CROWD + 100) // 2 + THREADS
