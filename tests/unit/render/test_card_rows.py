"""What is written on the cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.catalogue import load
from orchestrator.graph.build import build
from orchestrator.render.content import compose
from orchestrator.render.style import DEFAULT_LAYERS, LAYERS, WRAP_WIDTH
from tests.support.drawn_flows import read

FLOWS = Path(__file__).parents[3] / "flows"


def texts(name: str, card: str) -> list[str]:
    diagram = compose(load(FLOWS / f"{name}.flow.yaml"), DEFAULT_LAYERS)
    found = next(each for each in diagram.cards if each.ref == card)
    return [entry.prefix + entry.text for row in found.rows for entry in row.entries]


def test_writes_and_locks_are_told_without_their_layer() -> None:
    lines = texts("primitives/attribute", "step:PayOrder")
    assert lines.count("locks status") == 2
    assert "set status = processing" in lines
    assert "set progress[payment] = authorized" in lines
    assert "set status = completed" in lines
    rpc = texts("primitives/attribute", "rpc:update_status")
    assert rpc.count("locks progress[payment]") == 1
    assert "set status = input" in rpc


def test_deletion_is_told_as_such() -> None:
    assert "delete email" in texts("patterns/entity_store", "rpc:clear")


@pytest.mark.parametrize(
    ("name", "card", "line"),
    [
        ("primitives/attribute", "step:PayOrder", "first ƒ authorize_payment, then waits for nothing"),
        ("primitives/wait_types", "step:AwaitSignals", "waits for what ƒ combine_conditions chooses:"),
        (
            "primitives/proceed_on_wait_failure",
            "step:AskPartner",
            "2 attempts, 1s apart · goes on when it fails",
        ),
        ("primitives/options_override", "step:First", "there: wait 2 attempts, 1s apart; wait may fail"),
    ],
)
def test_wait_handlers_and_changed_options_are_told(name: str, card: str, line: str) -> None:
    assert line in texts(name, card)


def test_locks_are_wired_in_the_layer_of_attributes() -> None:
    flow = load(FLOWS / "primitives" / "attribute.flow.yaml")
    assert not any(rail.kind == "attribute" for rail in compose(flow, DEFAULT_LAYERS).rails)
    assert {rail.name for rail in compose(flow, LAYERS).rails} == {"status", "progress"}


def test_graph_has_the_locks_of_an_rpc_without_a_handler() -> None:
    graph = build(load(FLOWS / "primitives" / "attribute.flow.yaml"))
    edges = graph.out_edges("rpc:update_status", data=True)
    targets = {target for _, target, attributes in edges if attributes["kind"] == "lock"}
    assert targets == {"attribute:status", "attribute:progress"}


def test_long_names_make_no_card_wide() -> None:
    name = "RecoverFromAFailedCollectionOfSettlementInstructionsAndInformTreasury"
    flow = read(
        f"""
flow: LongNames
channels: {{{name}Channel: {{type: string, external: true}}}}
start: Collect
steps:
  Collect: {{execute: h, on_failure: {name}, go_to: Await}}
  Await:
    wait_for: {{any_of: [{{channel: {name}Channel, id: id{name}}}, {{timer: 1h, id: timer{name}}}]}}
    graceful_complete:
  {name}: {{force_fail: lost}}
"""
    )
    for card in compose(flow, DEFAULT_LAYERS).cards:
        assert card.width <= WRAP_WIDTH + 100
        told = "".join(entry.prefix + entry.text for row in card.rows for entry in row.entries)
        if card.ref == "step:Await":
            assert f"id{name}:" in told.replace(" ", "")
            assert f"{name}Channel.for1" in told.replace(" ", "")
