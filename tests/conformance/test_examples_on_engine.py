"""Runs of examples on the engine, too, take only ways that the verifier's model has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.core.changes import Change
from orchestrator.core.codec import decode
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.record import SimulatedRun
from tests.conformance.following import Follower
from tests.conformance.test_examples import TOO_LONG, shown
from tests.support.on_engine import EnginePlay
from tests.support.rehearsing import read
from tests.support.stage import ROOT

FILES = [
    path for group in (".", "products") for path in sorted((ROOT / "flows" / group).glob("*.rehearsal.yaml"))
]


class KeptPlay(EnginePlay):
    """Keeps what every commit of the run was about."""

    commits: Sequence[tuple[str, Sequence[Change]]] = ()

    def _record(self) -> SimulatedRun:
        with self.engine.store.reading() as reading:
            head = reading.find_latest(self._rehearsal.flow_id)
            assert head is not None
            self.commits = [(row.kind, decode(row.body)) for row in reading.history(head.run)]
        return super()._record()


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_the_model_has_every_way_that_an_example_takes_on_the_engine(path: Path, tmp_path: Path) -> None:
    file, bound, followed = read(path), BoundFlows([ROOT]), 0
    for number, rehearsal in enumerate(file.rehearsals):
        if rehearsal.name in TOO_LONG:
            continue
        play = KeptPlay(file, rehearsal, tmp_path / f"{number}.db", bound)
        play.play()
        followed += Follower(file.flow).follow(play.commits)
    assert followed > 0
