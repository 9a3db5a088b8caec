"""The primitives do what they show: their rehearsals, and what those cannot say, on the engine."""

import pytest

from orchestrator.definition.catalogue import load
from orchestrator.simulate.script import Rehearsal, RehearsalFile
from tests.support.engine_kit import Kit
from tests.support.rehearsed_examples import differences, flows_without_rehearsal, rehearsals_of
from tests.support.stage import ROOT

PRIMITIVES = ROOT / "flows" / "primitives"


@pytest.mark.parametrize(("file", "rehearsal"), rehearsals_of("primitives"))
def test_a_primitive_goes_as_rehearsed(file: RehearsalFile, rehearsal: Rehearsal) -> None:
    assert differences(file, rehearsal) == []


def test_every_primitive_is_rehearsed() -> None:
    assert flows_without_rehearsal("primitives") == []


@pytest.mark.rule(203)
def test_the_client_finds_a_run_by_its_indexed_attribute(kit: Kit) -> None:
    flow = load(PRIMITIVES / "client_apis.flow.yaml")
    assert kit.run(flow, "sale-1", "spring-sale")["status"] == "COMPLETED"
    kit.run(flow, "sale-2", "autumn-sale")
    found = kit.client.search("attributes.customKeywordField == 'spring-sale'")
    assert [run["flow_id"] for run in found] == ["sale-1"]


@pytest.mark.parametrize(("mode", "output"), [("async", "async:async"), ("careful", "sync:careful")])
def test_steps_of_either_durability_complete(kit: Kit, mode: str, output: str) -> None:
    kit.client.start(load(PRIMITIVES / "durability.flow.yaml"), "run-1", mode)
    with kit.working() as worker:
        worker.run_until_idle()
        kit.clock.advance(seconds=1)
        run = worker.run_until_closed("run-1")
    assert [each["output"] for each in run["outputs"]] == [output]
