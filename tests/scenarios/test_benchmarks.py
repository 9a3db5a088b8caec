"""The workloads that count what they did, small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import parked
from tests.benchmarks.many_workers import two_workers
from tests.support import postgres


def test_parked_runs_all_go_on(place: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parked, "_IDLE_SECONDS", 0.01)
    monkeypatch.setattr(parked, "_SETTLE_SECONDS", 0.0)
    figures = parked.parked(place if isinstance(place, str) else str(place / "runs.db"), 60)
    assert figures["creates_s"] > 0


def test_two_worker_processes_do_every_step_once() -> None:
    with postgres.database() as url:
        figures = two_workers(url, 10)
    assert sum(figures["calls"]) == 100
