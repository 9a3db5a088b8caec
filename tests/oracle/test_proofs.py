"""What the verifier proves for any fan-out, having seen sizes up to three, holds for larger ones."""

from __future__ import annotations

import pytest

from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.mutants.mutating import document_of, mutants_of
from tests.mutants.test_mutants import FLOWS
from tests.support.play import flow_of
from tests.support.random_small_flows import small_flow

LARGER = (4, 6)
MOST_STATES = 5_000
SIZED = (
    "contract_edit.flow.yaml",
    "shopping_cart.flow.yaml",
    "patterns/parallel_with_await.flow.yaml",
    "joined_edits.flow.yaml",
)
"""Flows whose fan-out hangs on the input."""


def proved(flow: Flow) -> set[str]:
    return names(flow, Verdict.PROVED, (0, 1, 2, 3))


def names(flow: Flow, verdict: Verdict, fan_out: tuple[int, ...]) -> set[str]:
    report = verify_flow(flow, fan_out=fan_out, max_states=MOST_STATES)
    return {each.name for each in report.properties if each.verdict is verdict}


def refuted(flow: Flow) -> set[str]:
    """What was proved, and is violated all the same."""
    claimed = proved(flow)
    if not claimed:
        return set()
    return claimed & {name for size in LARGER for name in names(flow, Verdict.VIOLATED, (size,))}


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_proofs_of_random_flows_hold(first: int) -> None:
    flows = {seed: flow_of(small_flow(seed, is_sized=True)) for seed in range(first, first + 20)}
    assert {seed: found for seed, flow in flows.items() if (found := refuted(flow))} == {}


def test_some_random_flow_is_proved_something() -> None:
    """Else the test above were idle."""
    assert any(proved(flow_of(small_flow(seed, is_sized=True))) for seed in range(20))


@pytest.mark.parametrize("name", SIZED)
def test_proofs_of_mutants_hold(name: str) -> None:
    wrong = {}
    for mutant in mutants_of(document_of(FLOWS[name])):
        flow, _ = parse(mutant.text, name)
        if flow is not None and (found := refuted(flow)):
            wrong[mutant.name] = found
    assert wrong == {}
