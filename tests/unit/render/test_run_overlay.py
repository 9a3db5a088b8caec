"""A run painted on its flow."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from orchestrator.definition.catalogue import load
from orchestrator.render.image import render
from orchestrator.render.overlay import Mark, MarkState, RunOverlay

FLOW = Path(__file__).parents[3] / "flows" / "contract_edit.flow.yaml"
SVG = "{http://www.w3.org/2000/svg}"
OVERLAY = RunOverlay(
    title="edit-1, RUNNING",
    marks={
        "StartContractEdits": (Mark(MarkState.DONE),),
        "EnterContractEdit": (
            Mark(MarkState.DONE, 3),
            Mark(MarkState.WAITING, 2, "for contractEditToken.for 1"),
        ),
        "EditContract": (Mark(MarkState.RETRYING, 1, "attempt 2 in 1s: busy"), Mark(MarkState.ACTIVE)),
        "SaveContractEdit": (Mark(MarkState.FAILED, 1, "OSError: disk full"), Mark(MarkState.DONE, 2)),
        "FinishContractEdits": (Mark(MarkState.CANCELLED),),
    },
    taken={"EditContract/2": 4},
    queued={"contractEditFinished": 2},
)


def card_texts() -> dict[str, tuple[str, str]]:
    """By step: state class and all its text."""
    root = ET.fromstring(render(load(FLOW), "svg", overlay=OVERLAY))
    cards = {}
    for group in root.iter(f"{SVG}g"):
        css = group.attrib.get("class", "")
        if css.startswith("card "):
            text = " ".join(label.text or "" for label in group.iter(f"{SVG}text"))
            cards[group.attrib["data-ref"].removeprefix("step:")] = (css.split()[-1], text)
    return cards


def test_cards_wear_their_most_urgent_state() -> None:
    assert {name: state for name, (state, _) in card_texts().items()} == {
        "StartContractEdits": "done",
        "EnterContractEdit": "waiting",
        "EditContract": "retrying",
        "SaveContractEdit": "failed",
        "FinishContractEdits": "cancelled",
        "ReleaseContractEditToken": "unreached",
    }


def test_cards_say_how_often_and_why() -> None:
    texts = {name: text for name, (_, text) in card_texts().items()}
    assert "×3" in texts["EnterContractEdit"]
    assert "2 waiting: for contractEditToken.for 1" in texts["EnterContractEdit"]
    assert "retrying: attempt 2 in 1s: busy" in texts["EditContract"]
    assert "×4" in texts["EditContract"]
    assert "failed: OSError: disk full" in texts["SaveContractEdit"]


def test_channel_shows_its_unread_messages_and_heading_the_run() -> None:
    text = render(load(FLOW), "svg", overlay=OVERLAY).decode()
    assert ">2 queued<" in text
    assert ">edit-1, RUNNING<" in text


def test_other_text_formats_show_the_run_too() -> None:
    flow = load(FLOW)
    assert "2 queued" in render(flow, "dot", overlay=OVERLAY).decode()
    assert "class SaveContractEdit" not in render(flow, "mermaid").decode()
    assert "class step_SaveContractEdit failed" in render(flow, "mermaid", overlay=OVERLAY).decode()


def test_decisions_passed_by_are_faded_with_their_arrows() -> None:
    overlay = RunOverlay(marks={"EditContract": (Mark(MarkState.DONE),)}, taken={"EditContract/1": 1})
    root = ET.fromstring(render(load(FLOW), "svg", overlay=overlay))
    groups = {
        (group.attrib["data-ref"], group.attrib["class"].split()[0]): group
        for group in root.iter(f"{SVG}g")
        if group.attrib.get("data-ref", "").startswith("decision:EditContract/")
    }
    assert groups["decision:EditContract/2", "link"].attrib["opacity"] == "0.35"
    assert groups["decision:EditContract/2", "row"].find(f"{SVG}g[@opacity]") is not None
    assert groups["decision:EditContract/1", "row"].find(f"{SVG}g[@opacity]") is None


def test_a_failure_route_that_was_not_taken_is_faded_up_to_the_steps_that_have_it() -> None:
    root = ET.fromstring(render(load(FLOW), "svg", overlay=OVERLAY))
    groups = [group.attrib for group in root.iter(f"{SVG}g")]
    wires = [each for each in groups if each.get("class") == "wire execute_failure"]
    rails = [each for each in groups if each.get("class") == "rail failure"]
    assert len(wires) == 4 and len(rails) == 1
    assert {each.get("opacity") for each in (*wires, *rails)} == {"0.35"}


def test_what_never_came_wears_no_colour_of_what_did() -> None:
    marks = {"EditContract": (Mark(MarkState.DONE, 2), Mark(MarkState.MISSED, 0, "never: on failure → Save"))}
    root = ET.fromstring(render(load(FLOW), "svg", overlay=RunOverlay("1 rehearsal, 50 % taken", marks)))
    rows = {
        " ".join(label.text or "" for label in group.iter(f"{SVG}text")): group.attrib["class"]
        for group in root.iter(f"{SVG}g")
        if group.attrib.get("class", "").startswith("row status")
    }
    assert rows == {"never: on failure → Save": "row status cancelled"}
    cards = [group.attrib.get("class", "") for group in root.iter(f"{SVG}g")]
    assert "card step done" in cards
