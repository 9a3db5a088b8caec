"""The rehearsals of the example flows hold; those of the flows that open the collection try all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.coverage import measure
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import Performance, rehearse
from tests.support.rehearsing import read
from tests.support.stage import ROOT

FILES = sorted((ROOT / "flows").rglob("*.rehearsal.yaml"))
FIRST = [path for path in FILES if path.parent == ROOT / "flows"]


@cache
def performed(path: Path) -> list[Performance]:
    file, bound = read(path), BoundFlows([ROOT])
    flows = FlowSource(file.flow, path.parent)
    return [rehearse(file, rehearsal, bound=bound, flows=flows) for rehearsal in file.rehearsals]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT / "flows"))


def faults(path: Path) -> Iterator[str]:
    for performance in performed(path):
        for difference in performance.differences:
            yield f"{performance.rehearsal.name}: {difference.message}"


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_the_rehearsals_of_an_example_hold(path: Path) -> None:
    assert list(faults(path)) == []


@pytest.mark.parametrize("path", FIRST, ids=shown)
def test_nothing_of_a_first_example_is_left_untried(path: Path) -> None:
    runs = [run for performance in performed(path) for run in performance.runs]
    assert [place.name for place in measure(read(path).flow, runs).missed()] == []
