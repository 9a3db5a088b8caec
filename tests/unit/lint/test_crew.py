"""Many files at once, in several processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.lint import crew
from orchestrator.lint.crew import each
from orchestrator.lint.files import shown_path
from orchestrator.lint.runner import lint_files


def squared(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def test_the_results_of_several_processes_come_in_order() -> None:
    results = list(each(squared, range(200), worker_count=2))
    assert [result for result, _ in results] == [number * number for number in range(200)]
    assert os.getpid() not in {process for _, process in results}


def test_few_items_stay_in_this_process() -> None:
    assert {process for _, process in each(squared, range(crew.FORKING_FROM - 1))} == {os.getpid()}


def test_a_failure_in_a_worker_is_raised_here() -> None:
    with pytest.raises(TypeError):
        list(each(len, [1], worker_count=2))  # type: ignore[arg-type]


def test_files_shared_among_processes_give_the_same_problems_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        text = f"flow: F{number % 7}\ntimeout: 1 hour  # lint: ignore[SCH004] so\nx: {number}\nstart: A\n"
        (tmp_path / f"{number}.flow.yaml").write_text(text if number % 2 else f"flow: F{number % 7}\n")
    files = sorted(tmp_path.iterdir())
    told: list[str] = []
    alone = lint_files(files)
    monkeypatch.setattr(crew, "FORKING_FROM", 2)
    monkeypatch.setattr(crew, "SPAWNING_FROM", 2)
    monkeypatch.setattr(crew, "_cpu_count", lambda: 2)
    shared = lint_files(files, tell=told.append)
    assert shared == alone
    assert {problem.code for problem in shared} == {"NAM008", "SCH001", "REF001"}
    assert told == [shown_path(file) for file in files]
