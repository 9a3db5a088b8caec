"""A search that was ended by its limit: what it did not see is unknown, never missing and never checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.catalogue import load
from orchestrator.verify.report import FlowReport, Verdict
from orchestrator.verify.verifying import verify_flow

ROOT = Path(__file__).parents[3]
FLOWS = sorted((ROOT / "flows").rglob("*.flow.yaml"))


def verdicts(report: FlowReport) -> dict[str, Verdict]:
    return {each.name: each.verdict for each in report.properties}


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.name)
def test_every_property_of_the_whole_search_is_named_and_not_checked(path: Path) -> None:
    flow = load(path)
    whole = verdicts(verify_flow(flow))
    ended = verify_flow(flow, max_states=2)
    cut = verdicts(ended)
    assert whole.keys() <= cut.keys()
    assert Verdict.CHECKED not in cut.values()
    for each in ended.properties:
        assert each.message.startswith("not decided: ") is (each.verdict is Verdict.UNKNOWN)
