"""The verifier and spin agree: the same states and ways between them, the same verdicts, equally short."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.model import Flow
from orchestrator.verify.report import FlowReport, Verdict
from orchestrator.verify.search import Graph, explore
from orchestrator.verify.sources import external_of
from orchestrator.verify.transitions import Transitions
from orchestrator.verify.verifying import verify_flow
from tests.oracle.equality import shape_of_search, shape_of_space
from tests.oracle.model import CAPACITY
from tests.oracle.promela import model_of
from tests.oracle.spin import Space, Spin, State, needs_spin
from tests.support.contract_edit_variants import VARIANTS, text_of
from tests.support.play import flow_of
from tests.support.random_small_flows import small_flow

SEEDS = range(40)
MOST_STATES = 10_000


def searched(flow: Flow) -> Graph:
    return explore(Transitions(flow, (3,), external_of(flow)), MOST_STATES)


def lengths_of(report: FlowReport) -> dict[str, int | None]:
    """Length of the shortest counterexample, by property; None where it is kept."""
    found = {}
    for each in report.properties:
        assert each.verdict is not Verdict.UNKNOWN
        is_violated = each.verdict is Verdict.VIOLATED and each.counterexample is not None
        found[each.name] = each.counterexample.length if is_violated and each.counterexample else None
    return found


@needs_spin
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_flow_has_the_same_states_and_verdicts(seed: int, tmp_path: Path) -> None:
    flow = flow_of(small_flow(seed))
    section = flow.verify["properties"][0]["mutual_exclusion"]
    spin = Spin(model_of(flow, fan_out=3, protected=section), tmp_path)
    if spin.shortest("overflow") is not None:
        check_growth(flow)
        return
    space = spin.space()
    assert shape_of_search(searched(flow), space.model) == shape_of_space(space)
    found = lengths_of(verify_flow(flow, fan_out=(3,)))
    assert found["deadlock"] == (0 if space.initial in space.dead else spin.shortest("deadlock"))
    assert found["zombie"] == spin.shortest("zombie")
    assert found[f"mutual_exclusion: {', '.join(section)}"] == spin.shortest("mutual_exclusion")
    if "token_conservation" not in found:  # else as many tokens as there are may be left
        read = [name for name, each in flow.channels.items() if not (each.leftover or each.is_external)]
        left = [spin.shortest(f"left {name}") for name in read]
        assert found["orphan_message"] == next((length for length in left if length is not None), None)
    assert found["livelock"] is None if not space.doomed else found["livelock"] is not None
    assert found.get("graceful_never_completes") == space.distance(lost_completions(space))


def check_growth(flow: Flow) -> None:
    """More than the oracle counts: without bound, at least so many, or more states than are looked at."""
    graph = searched(flow)
    is_large = any(count > CAPACITY for state in graph.states for _, count in (*state.queues, *state.marking))
    assert graph.pumped or is_large or not graph.is_complete


def lost_completions(space: Space) -> frozenset[State]:
    """Completion was asked for, something is active, and it goes to no end."""
    return frozenset(
        state
        for state in space.dead | space.doomed
        if space.value(state, "graceful") and sum(state[: len(space.model.places)])
    )


@needs_spin
@pytest.mark.parametrize("seed", range(12))
def test_a_flow_whose_fan_out_hangs_on_its_input_has_the_same_states(seed: int, tmp_path: Path) -> None:
    flow = flow_of(small_flow(seed, is_sized=True))
    spin = Spin(model_of(flow, fan_out=3), tmp_path)
    if spin.shortest("overflow") is not None:
        check_growth(flow)
        return
    space = spin.space()
    assert shape_of_search(searched(flow), space.model) == shape_of_space(space)


@needs_spin
@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_of_contract_edit_has_the_same_states(name: str, tmp_path: Path) -> None:
    flow = flow_of(text_of(name))
    space = Spin(model_of(flow, fan_out=3), tmp_path).space()
    assert shape_of_search(searched(flow), space.model) == shape_of_space(space)
