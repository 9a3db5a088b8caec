"""Where the cards and the arrows between them go: Graphviz's `dot`, run on boxes of known size.

Coordinates are points, y grows downwards. The layout is that of the Graphviz port that comes with the
package, so the same flow looks the same everywhere; a system `dot` only stands in where it is missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.render.cards import Card, Diagram, Link
from orchestrator.render.shapes import Point, Segment, points_along, rounded
from orchestrator.render.style import Direction

START_SIZE = 16.0
LOOP_WIDTH = 22.0
STACK_GAP = 40
"""More room beside stacked cards: arrows back of the steps next to them pass there."""
LAYOUT_TIMEOUT_SECONDS = 120


class LayoutFailed(OrchestratorError):
    """Graphviz is missing or failed."""

    type = "layout"


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Curve:
    """An arrow's line, and the middle of its label."""

    link: Link
    segments: tuple[Segment, ...]
    tip: Point
    neck: Point
    label_at: Point | None = None
    level: float | None = None
    """Height of the line on the card that names the target."""


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: dict[str, Box]
    """By card ref, and `start`."""
    curves: tuple[Curve, ...]

    @property
    def extent(self) -> Box:
        """The smallest box around all cards and arrows."""
        points = [(box.x, box.y) for box in self.boxes.values()]
        points += [(box.right, box.bottom) for box in self.boxes.values()]
        points += [point for curve in self.curves for point in points_along(curve.segments)]
        xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
        return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


def lay_out(diagram: Diagram, direction: Direction) -> Layout:
    """Two passes: the second knows which side each target is on, and how many ranks there are."""
    first = Plan(direction, {}, rank_count=1)
    layout = _parse(diagram, _run_dot(_layout_dot(diagram, first)))
    sides = {}
    for number, link in enumerate(diagram.links):
        if link.source in layout.boxes and link.target in layout.boxes and link.port:
            sides[number] = _side(layout.boxes[link.source], layout.boxes[link.target])
    second = Plan(direction, sides if direction == "TB" else {}, _count_ranks(layout, direction))
    if second == first:
        return layout
    return _parse(diagram, _run_dot(_layout_dot(diagram, second)))


@dataclass(frozen=True, slots=True)
class Plan:
    """What one pass knows of the pass before."""

    direction: Direction
    sides: dict[int, str]
    """By number of the link."""
    rank_count: int


def _count_ranks(layout: Layout, direction: Direction) -> int:
    middles = {
        round(box.y + box.height / 2 if direction == "TB" else box.x + box.width / 2)
        for name, box in layout.boxes.items()
        if name.startswith("step:")
    }
    return max(len(middles), 1)


def _side(source: Box, target: Box) -> str:
    """`e` or `w`; `E`, `W` for an arrow back: it also arrives there."""
    side = "e" if target.x + target.width / 2 >= source.x + source.width / 2 else "w"
    return side if target.y > source.y else side.upper()


def _layout_dot(diagram: Diagram, plan: Plan) -> str:
    direction = plan.direction
    lines = [
        "digraph g {",
        f"rankdir={direction}; nodesep=0.62; ranksep={0.78 if direction == 'TB' else 1.0}; splines=true;",
        "node [shape=plain]; edge [arrowsize=0.8];",
        f'"start" [shape=box, fixedsize=true, label="", width={START_SIZE / 72}, height={START_SIZE / 72}];',
    ]
    if not any(link.source == "start" for link in diagram.links):
        lines.pop()
    cards = {card.ref: card for card in diagram.cards}
    linked = {(link.source, link.target) for link in diagram.links}
    routes = [
        (recovery, source)
        for recovery, source in diagram.routes
        if source in cards and recovery in cards and (source, recovery) not in linked
    ]
    # In the order written, so that recovery steps stand on the left, beside the failure rails.
    ordered = {source for _, source in routes}
    stacked = _stacked(diagram, plan)
    lower_cards = {lower for _, lower in stacked}
    for card in diagram.cards:
        order = ", ordering=out" if card.ref in ordered else ""
        gap = STACK_GAP if card.ref in lower_cards and direction == "TB" else 0
        lines.append(f'"{card.ref}" [label=<{_table(card, gap)}>{order}];')
    lines += [f'"{source}" -> "{recovery}" [style=invis, weight=0];' for recovery, source in routes]
    for number, link in enumerate(diagram.links):
        if link.target in cards and (link.source == "start" or link.source in cards):
            lines.append(_link_dot(number, link, cards, direction, plan.sides.get(number, "")))
    lines += [f'"{upper}" -> "{lower}" [style=invis, weight=1];' for upper, lower in stacked]
    return "\n".join([*lines, "}"])


def _stacked(diagram: Diagram, plan: Plan) -> list[tuple[str, str]]:
    """Pairs, one below the other, of cards that no arrow leads from: else they make one long row."""
    linked = {link.source for link in diagram.links}
    loose = [card.ref for card in diagram.cards if card.kind != "step" and card.ref not in linked]
    column_count = -(-len(loose) // plan.rank_count)
    return [
        (upper, loose[index + column_count])
        for index, upper in enumerate(loose)
        if index + column_count < len(loose)
    ]


def _link_dot(number: int, link: Link, cards: dict[str, Card], direction: Direction, side: str) -> str:
    attributes = [f'id="{number}"', "weight=3"]
    if link.source != "start":
        attributes.append(f'tailport="{_tail_port(link, cards[link.source], direction, side)}"')
    is_back = side in ("E", "W")
    head = f"t:{side.lower()}" if is_back else "n" if direction == "TB" else "t:w"
    attributes.append(f'headport="{head}"')
    return f'"{link.source}" -> "{link.target}" [{", ".join(attributes)}];'


def _tail_port(link: Link, card: Card, direction: Direction, side: str) -> str:
    if direction == "LR":
        return f"{link.port}:e"
    if card.rows[-1].port == link.port and side not in ("E", "W"):
        return f"{link.port}:s"
    return f"{link.port}:{side.lower()}" if side else link.port


def _table(card: Card, gap: int) -> str:
    """An empty table of the card's exact size, and `gap` at both sides, with a port for each row."""
    width = round(card.width) + 2 * gap
    rows = "".join(
        "<TR>" + _cell(f' PORT="{row.port}"', width, round(card.row_height(row))) + "</TR>"
        for row in card.rows
    )
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{rows}</TABLE>'


def _cell(port: str, width: int, height: int) -> str:
    return f'<TD{port} FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"></TD>'


def _run_dot(text: str) -> dict[str, Any]:
    program = _find_dot()
    try:
        done = subprocess.run(
            [program, "-Kdot", "-Tjson"],
            input=text.encode(),
            capture_output=True,
            timeout=LAYOUT_TIMEOUT_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise LayoutFailed(
            f"{program}: no layout in {LAYOUT_TIMEOUT_SECONDS} s; show fewer layers"
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", b"") or str(error).encode()
        raise LayoutFailed(f"{program} failed: {detail.decode(errors='replace').strip()}") from error
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def _find_dot() -> str:
    beside = Path(sys.executable).with_name("graphviz-pure")
    for candidate in (str(beside), "graphviz-pure", "dot"):
        found = shutil.which(candidate)
        if found is not None:
            return found
    raise LayoutFailed("no Graphviz found: pip install graphviz-pure, or install Graphviz's dot")


def _parse(diagram: Diagram, document: dict[str, Any]) -> Layout:
    height = float(document["bb"].split(",")[3])
    cards = {card.ref: card for card in diagram.cards}
    boxes = {}
    for node in document.get("objects", ()):
        x, y = map(float, node["pos"].split(","))
        name = node["name"]
        wide, high = (cards[name].width, cards[name].height) if name in cards else (START_SIZE, START_SIZE)
        boxes[name] = Box(round(x - wide / 2, 2), round(height - y - high / 2, 2), wide, high)
    curves = [
        _curve(diagram.links[int(edge["id"])], edge, height)
        for edge in document.get("edges", ())
        if "id" in edge
    ]
    busy = {curve.link.source for curve in curves if _is_at_right(curve, boxes)}
    busy |= {curve.link.target for curve in curves if _is_arriving_right(curve, boxes)}
    curves = [
        _loop(curve, cards[curve.link.source], boxes, busy) if _is_loop(curve.link) else curve
        for curve in curves
    ]
    curves = [_attached(curve, boxes[curve.link.source]) for curve in curves]
    return Layout(boxes, tuple(_levelled(curve, cards, boxes) for curve in curves))


def _is_loop(link: Link) -> bool:
    return link.source == link.target


def _is_at_right(curve: Curve, boxes: dict[str, Box]) -> bool:
    return not _is_loop(curve.link) and curve.segments[0][1][0] >= boxes[curve.link.source].right - 1


def _is_arriving_right(curve: Curve, boxes: dict[str, Box]) -> bool:
    return not _is_loop(curve.link) and curve.tip[0] >= boxes[curve.link.target].right - 1


def _levelled(curve: Curve, cards: dict[str, Card], boxes: dict[str, Box]) -> Curve:
    card = cards.get(curve.link.source)
    if card is None:
        return curve
    return replace(curve, level=boxes[card.ref].y + _last_line(card, curve.link.port))


def _last_line(card: Card, port: str) -> float:
    """Middle of the row's last line, from the card's top."""
    row = next(row for row in card.rows if row.port == port)
    return card.row_top(port) + card.row_height(row) - row.padding - 7


def _loop(curve: Curve, card: Card, boxes: dict[str, Box], busy: set[str]) -> Curve:
    """From a decision back to its own card: along its right side; the left one where only that is free."""
    box = boxes[card.ref]
    rows = {row.port: row for row in card.rows}
    title = rows["t"]
    is_left = card.ref in busy and "f" not in rows
    edge, sign = (box.x, -1) if is_left else (box.right, 1)
    start = (edge, box.y + _last_line(card, curve.link.port))
    tip = (edge, box.y + card.row_top("t") + card.row_height(title) / 2)
    out = edge + sign * LOOP_WIDTH
    neck = (tip[0] + sign * 9, tip[1])
    segments = rounded([start, (out, start[1]), (out, tip[1]), neck], 9)
    label_at = (out, (start[1] + tip[1]) / 2) if curve.link.label else None
    return Curve(curve.link, segments, tip, neck, label_at)


def _attached(curve: Curve, box: Box) -> Curve:
    """Graphviz leaves a hair's breadth below the card."""
    x, y = curve.segments[0][1]
    if 0 < y - box.bottom < 5 and box.x <= x <= box.right:
        segments = (("M", (x, box.bottom)), ("L", (x, y)), *curve.segments[1:])
        return replace(curve, segments=segments)
    return curve


def _curve(link: Link, edge: dict[str, Any], height: float) -> Curve:
    numbers = edge["pos"].split(" ")
    tip: Point | None = None
    points = []
    for text in numbers:
        if text.startswith("e,"):
            tip = _point(text[2:], height)
        elif not text.startswith("s,"):
            points.append(_point(text, height))
    segments: list[Segment] = [("M", points[0])]
    for first, second, third in zip(points[1::3], points[2::3], points[3::3], strict=True):
        segments.append(("C", (*first, *second, *third)))
    return Curve(link, tuple(segments), tip or points[-1], points[-1])


def _point(text: str, height: float) -> Point:
    x, y = map(float, text.split(","))
    return round(x, 2), round(height - y, 2)
