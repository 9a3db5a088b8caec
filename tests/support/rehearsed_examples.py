"""The rehearsals beside a group of example flows, as parameters of a test."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from orchestrator.simulate.calls import BoundFlows
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.rehearsal import SUFFIX, find_rehearsals, read_rehearsals
from orchestrator.simulate.script import Rehearsal, RehearsalFile
from tests.support.stage import ROOT

_BOUND = BoundFlows([ROOT])


def rehearsals_of(group: str) -> list[ParameterSet]:
    """Of all files in `flows/<group>`; a file with problems fails the collection."""
    return [
        pytest.param(file, rehearsal, id=f"{name}: {rehearsal.name}")
        for name, file in _files(group).items()
        for rehearsal in file.rehearsals
    ]


def flows_without_rehearsal(group: str) -> list[str]:
    flows = {path.name.removesuffix(".flow.yaml") for path in (ROOT / "flows" / group).glob("*.flow.yaml")}
    return sorted(flows - set(_files(group)))


def differences(file: RehearsalFile, rehearsal: Rehearsal) -> list[str]:
    """What came otherwise than expected; empty where the rehearsal passed."""
    performance = rehearse(file, rehearsal, bound=_BOUND)
    return [difference.message for difference in performance.differences]


def _files(group: str) -> dict[str, RehearsalFile]:
    found = {}
    for path in find_rehearsals([ROOT / "flows" / group]):
        file, problems = read_rehearsals(path)
        assert file is not None, "\n".join(problem.concise() for problem in problems)
        found[path.name.removesuffix(SUFFIX)] = file
    return found
