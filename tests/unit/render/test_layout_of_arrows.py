"""Arrows and labels: where they run, what they keep clear of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from orchestrator.definition.catalogue import load
from orchestrator.render.content import compose
from orchestrator.render.curves import place_labels, straighten, turn_back
from orchestrator.render.layout import Box, Layout, lay_out
from orchestrator.render.metrics import text_width
from orchestrator.render.paint_rails import place_heads
from orchestrator.render.shapes import points_along
from orchestrator.render.style import DEFAULT_LAYERS, SMALL_SIZE, Direction
from orchestrator.render.wires import Wire, route
from tests.support.drawn_flows import read

FLOWS = Path(__file__).parents[3] / "flows"
FORKS = ["contract_edit", "shopping_cart", "patterns/parallel_with_await"]


def laid_out(name: str, direction: Direction = "TB") -> Layout:
    diagram = compose(load(FLOWS / f"{name}.flow.yaml"), DEFAULT_LAYERS)
    layout = lay_out(diagram, direction)
    return place_labels(straighten(layout) if direction == "TB" else turn_back(layout))


def is_inside(x: float, y: float, box: Box) -> bool:
    return box.x < x < box.right and box.y < y < box.bottom


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", FORKS)
def test_label_stands_on_its_own_arrow_and_on_no_other(name: str, direction: Direction) -> None:
    layout = laid_out(name, direction)
    labelled = [curve for curve in layout.curves if curve.link.label]
    assert labelled
    for curve in labelled:
        assert curve.label_at is not None
        x, y = curve.label_at
        half = text_width(curve.link.label, SMALL_SIZE, 600) / 2
        frame = Box(x - half, y - 6, 2 * half, 12)
        assert any(is_inside(*point, frame) for point in points_along(curve.segments, 64))
        for other in layout.curves:
            if other is not curve:
                assert not any(is_inside(*point, frame) for point in points_along(other.segments, 64))
        for box in layout.boxes.values():
            assert frame.right <= box.x or box.right <= x - half or y + 6 <= box.y or box.bottom <= y - 6


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", [*FORKS, "products/engagement", "patterns/resource_control"])
def test_arrows_run_through_no_other_card(name: str, direction: Direction) -> None:
    layout = laid_out(name, direction)
    for curve in layout.curves:
        others = [
            box for ref, box in layout.boxes.items() if ref not in (curve.link.source, curve.link.target)
        ]
        for point in points_along(curve.segments, 16):
            assert not any(is_inside(*point, box) for box in others), (curve.link.title, point)


@pytest.mark.parametrize("name", ["products/money_transfer", "order_payment", "contract_edit"])
def test_failure_wires_cross_no_arrow(name: str) -> None:
    diagram = compose(load(FLOWS / f"{name}.flow.yaml"), DEFAULT_LAYERS)
    layout = straighten(lay_out(diagram, "TB"))
    _, wires = route(diagram, layout, is_turned=False)
    failures = [wire for wire in wires if wire.rail.kind == "failure"]
    assert failures
    points = [point for curve in layout.curves for point in points_along(curve.segments, 16)]
    for wire in failures:
        for (x1, y1), (x2, y2) in pairwise(wire.points):
            path = Box(min(x1, x2) - 1, min(y1, y2) - 1, abs(x1 - x2) + 2, abs(y1 - y2) + 2)
            assert not any(is_inside(*point, path) for point in points)


@pytest.mark.parametrize("name", ["primitives/wait_types", "contract_edit", "products/polling"])
def test_heads_keep_clear_of_the_pipes_beside_them(name: str) -> None:
    diagram = compose(load(FLOWS / f"{name}.flow.yaml"), DEFAULT_LAYERS)
    placed, _ = route(diagram, straighten(lay_out(diagram, "TB")), is_turned=False)
    rails = [each for each in placed if each.rail.kind == "channel"]
    heads = place_heads(placed, "TB")
    assert len(rails) > 1
    for each in rails:
        head = heads[each.rail.ref]
        for other in rails:
            x = other.start[0]
            if other is not each and other.end[1] > head.y and heads[other.rail.ref].bottom < head.bottom:
                assert x + 3 <= head.x or x - 3 >= head.right


def test_rpcs_that_start_nothing_stand_one_below_the_other() -> None:
    boxes = laid_out("products/ai_agent_email").boxes
    rpcs = sorted((box for ref, box in boxes.items() if ref.startswith("rpc:")), key=lambda box: box.y)
    assert len(rpcs) == 3
    for upper, lower in pairwise(rpcs):
        assert upper.bottom < lower.y


MANY_BRANCHES = """
flow: ManyBranches
channels: {log: {type: string, leftover: true}, seen: {type: string, leftover: true}}
joins: {parts: any}
start: Fork
steps:
  Fork:
    go_to_many: [A, B, C, D, Collect]
    join: parts
%s
  Broken: {publish: {log: broken}, report: {parts: failed}, dead_end: true}
  Collect:
    wait_for: {until: {join: parts}}
    graceful_complete: ${wait.parts.messages}
"""
BRANCH = (
    "  %s: {execute: h, on_failure: Broken, publish: {log: x, seen: x}, report: {parts: x}, dead_end: true}"
)
FOUR_WAITS = """
flow: FourWaits
channels: {a: string, b: string, c: string, d: string}
start: Ask
steps:
  Ask: {publish: {a: x, b: x, c: x, d: x}, go_to_many: [P, Q, R, S]}
%s
"""
WAITING = "  %s: {wait_for: {any_of: [{channel: %s}, {channel: %s}]}, graceful_complete: }"
TANGLED = {
    "branches": MANY_BRANCHES % "\n".join(BRANCH % name for name in "ABCD"),
    "waits": FOUR_WAITS % "\n".join(WAITING % tuple(names) for names in ("Pab", "Qbc", "Rcd", "Sda")),
}


def overlaps(wires: Sequence[Wire]) -> list[tuple[str, str]]:
    """Pairs of rails whose wires run on one another for more than a corner."""
    found = []
    pieces = [(wire.rail.ref, *piece) for wire in wires for piece in pairwise(wire.points)]
    for (rail, start, end), (other, other_start, other_end) in combinations(pieces, 2):
        for along, across in ((0, 1), (1, 0)):
            is_parallel = start[across] == end[across] and other_start[across] == other_end[across]
            if rail == other or not is_parallel or abs(start[across] - other_start[across]) > 2:
                continue
            low = max(min(start[along], end[along]), min(other_start[along], other_end[along]))
            high = min(max(start[along], end[along]), max(other_start[along], other_end[along]))
            if high - low > 3:
                found.append((rail, other))
    return found


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", TANGLED)
def test_wires_of_different_rails_never_run_on_one_another(name: str, direction: Direction) -> None:
    diagram = compose(read(TANGLED[name]), DEFAULT_LAYERS)
    layout = lay_out(diagram, direction)
    layout = place_labels(straighten(layout) if direction == "TB" else turn_back(layout))
    _, wires = route(diagram, layout, is_turned=direction == "LR")
    assert overlaps(wires) == []
