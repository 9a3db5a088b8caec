"""Two versions as one picture: green, red, amber."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from orchestrator.definition.model import Flow
from orchestrator.errors import UsageError
from orchestrator.render.image import render, render_difference
from orchestrator.render.merging import compose_difference
from orchestrator.render.style import DEFAULT_LAYERS, THEMES
from tests.support.play import flow_of

SVG = "{http://www.w3.org/2000/svg}"
OLD = """flow: Order
channels: {paid: {type: integer, external: true}, news: string}
start: Take
steps:
  Take: {execute: take, go_to: Wait}
  Wait:
    wait_for: {until: {channel: paid}}
    decide: [{when: "wait.paid.message > 1", go_to: Send}, {go_to: Drop}]
  Send: {execute: send, publish: {news: sent}, graceful_complete: null}
  Drop: {graceful_complete: null}
"""
NEW = """flow: Order
channels: {paid: {type: number, external: true}, log: string}
start: Take
steps:
  Take: {execute: take, go_to: Wait}
  Wait:
    wait_for: {until: {channel: paid}}
    decide: [{when: "wait.paid.message > 1", go_to: Check}, {go_to: Ship}]
  Check: {execute: check, publish: {log: x}, go_to: Ship}
  Ship: {execute: send, graceful_complete: null}
"""


def versions() -> tuple[Flow, Flow]:
    return flow_of(OLD), flow_of(NEW)


def test_cards_arrows_and_channels_wear_what_became_of_them() -> None:
    diagram = compose_difference(*versions(), DEFAULT_LAYERS)
    assert {card.ref.partition(":")[2]: card.state for card in diagram.cards} == {
        "Take": "",
        "Wait": "changed",
        "Check": "added",
        "Ship": "added",
        "Send": "removed",
        "Drop": "removed",
    }
    assert {(link.source, link.target): link.change for link in diagram.links if link.source != "start"} == {
        ("step:Take", "step:Wait"): "",
        ("step:Wait", "step:Check"): "added",
        ("step:Wait", "step:Ship"): "added",
        ("step:Check", "step:Ship"): "added",
        ("step:Wait", "step:Send"): "removed",
        ("step:Wait", "step:Drop"): "removed",
    }
    rails = {rail.name: rail.change for rail in diagram.rails if rail.kind == "channel"}
    assert rails == {"paid": "changed", "log": "added", "news": "removed"}
    assert diagram.status == "difference of two versions: 2 added, 2 removed, 1 changed"


def test_decisions_of_both_stand_on_the_card() -> None:
    diagram = compose_difference(*versions(), DEFAULT_LAYERS)
    wait = next(card for card in diagram.cards if card.ref == "step:Wait")
    decisions = [(row.tone, row.entries[-1].text) for row in wait.rows if row.kind == "decision"]
    assert decisions == [("removed", "Send"), ("removed", "Drop"), ("added", "Check"), ("added", "Ship")]
    assert len({row.port for row in wait.rows}) == len(wait.rows)


def test_a_renamed_step_is_one_card() -> None:
    diagram = compose_difference(*versions(), DEFAULT_LAYERS, {"Send": "Ship"})
    states = {card.ref.partition(":")[2]: card.state for card in diagram.cards}
    assert "Send" not in states
    assert states["Ship"] == "changed"
    title = next(card for card in diagram.cards if card.ref == "step:Ship").rows[0]
    assert [(entry.prefix, entry.text, entry.tone) for entry in title.entries][:2] == [
        ("− ", "Send", "removed"),
        ("", "Ship", "added"),
    ]


def test_equal_versions_are_the_picture_of_one() -> None:
    old, _ = versions()
    diagram = compose_difference(old, old, DEFAULT_LAYERS)
    assert {card.state for card in diagram.cards} | {link.change for link in diagram.links} == {""}
    assert diagram.status == "no difference that a diagram shows"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colours_are_in_the_drawing_and_its_legend(theme: str) -> None:
    root = ET.fromstring(render_difference(*versions(), "svg", theme=theme))  # type: ignore[arg-type]
    drawn = ET.tostring(root, encoding="unicode")
    for tone in ("added", "removed", "changed"):
        assert THEMES[theme].line(tone) in drawn
        assert THEMES[theme].area(tone) in drawn
    words = [label.text for label in root.iter(f"{SVG}text")]
    assert {"added", "removed", "changed"} <= set(words)


@pytest.mark.parametrize("format", ["svg", "png", "pdf", "dot"])
def test_every_format_is_written_and_the_same_each_time(format: str) -> None:
    first = render_difference(*versions(), format)  # type: ignore[arg-type]
    assert first == render_difference(*versions(), format)  # type: ignore[arg-type]
    assert len(first) > 500


def test_mermaid_is_not_among_them() -> None:
    with pytest.raises(UsageError, match="unknown format 'mermaid'"):
        render_difference(*versions(), "mermaid")


def test_an_ordinary_picture_has_none_of_it() -> None:
    drawn = render(versions()[0], "svg", legend=True).decode()
    assert THEMES["light"].area("removed") not in drawn
