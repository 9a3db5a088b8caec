"""What verify says of the broken variants of ContractEditFlow happens, in the simulator and on the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.counterexamples import replay_all
from orchestrator.definition.catalogue import load
from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.rehearsal import read_rehearsals
from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.support.contract_edit_variants import VARIANTS, text_of
from tests.support.on_engine import EnginePlay

SOUND = {"correct", "no failure route on Save"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_counterexample_happens_as_told(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "variant.flow.yaml"
    path.write_text(text_of(variant), encoding="utf-8")
    report = verify_flow(load(path))
    replays = replay_all(report, tmp_path / "traces")
    assert (report.verdict is Verdict.VIOLATED) is (variant not in SOUND)
    assert bool(replays) is (variant not in SOUND)
    for index, replay in replays.items():
        property = report.properties[index].name
        assert replay.path is not None, f"{property}: {replay.reason}"
        file, problems = read_rehearsals(replay.path)
        assert file is not None, problems
        (rehearsal,) = file.rehearsals
        simulated = rehearse(file, rehearsal, bound=BoundFlows([tmp_path]))
        assert [each.message for each in simulated.differences] == [], property
        play = EnginePlay(file, rehearsal, tmp_path / f"{index}.db", BoundFlows([tmp_path]))
        assert play.play() == [], property
