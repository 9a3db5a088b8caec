"""The examples' runs take only ways that the verifier's model has."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import rehearse
from tests.conformance.following import Follower
from tests.support.rehearsing import read
from tests.support.stage import ROOT

FILES = sorted((ROOT / "flows").rglob("*.rehearsal.yaml"))
TOO_LONG = {"declined, then accepted", "accepted before it begins"}
"""Days of a loop that wakes every few seconds: tens of thousands of commits."""


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT / "flows"))


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_the_model_has_every_way_that_an_example_takes(path: Path) -> None:
    file, bound = read(path), BoundFlows([ROOT])
    flows, followed = FlowSource(file.flow, path.parent), 0
    for rehearsal in file.rehearsals:
        if rehearsal.name in TOO_LONG:
            continue
        for simulated in rehearse(file, rehearsal, bound=bound, flows=flows).runs:
            commits = [(type(each.event).__name__, each.changes) for each in simulated.commits]
            followed += Follower(simulated.flow).follow(commits)
    assert followed > 0
