"""A diagram that has its places becomes shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.render.cards import Diagram, Rail
from orchestrator.render.curves import place_labels, straighten, turn_back
from orchestrator.render.layout import Box, Curve, Layout, lay_out
from orchestrator.render.legend import paint_legend
from orchestrator.render.metrics import text_width, wrap
from orchestrator.render.paint_cards import paint_card
from orchestrator.render.paint_rails import paint_rail, paint_wire, place_heads
from orchestrator.render.paint_trace import TracePlaces, paint_trace, tell_trace
from orchestrator.render.shapes import Drawing, Group, Label, Line, Rect, Shape, circle, polygon
from orchestrator.render.style import SMALL_SIZE, THEMES, Direction, Theme, ThemeName
from orchestrator.render.wires import PlacedRail, Wire, route

MARGIN = 28.0
TITLE_SIZE = 20.0
_STATUS_TONES = {
    "COMPLETED": "done",
    "FAILED": "failed_run",
    "CANCELED": "cancelled",
    "TERMINATED": "cancelled",
}


@dataclass(slots=True)
class Bounds:
    left: float
    top: float
    right: float
    bottom: float

    def include(self, x: float, y: float) -> None:
        self.left, self.right = min(self.left, x), max(self.right, x)
        self.top, self.bottom = min(self.top, y), max(self.bottom, y)

    def include_box(self, box: Box) -> None:
        self.include(box.x, box.y)
        self.include(box.right, box.bottom)


def paint(diagram: Diagram, theme_name: ThemeName, direction: Direction, has_legend: bool) -> Drawing:
    """The finished drawing."""
    theme = THEMES[theme_name]
    layout = lay_out(diagram, direction)
    layout = place_labels(straighten(layout) if direction == "TB" else turn_back(layout))
    placed, wires = route(diagram, layout, direction == "LR")
    heads = place_heads(placed, direction)
    bounds = _bounds_of(layout, placed, wires, heads)
    states = {card.ref: card.state for card in diagram.cards}
    shapes: list[Shape] = [
        paint_rail(each, heads.get(each.rail.ref), theme, direction, _is_unused(each.rail, states))
        for each in placed
    ]
    shapes += [_paint_curve(curve, states.get(curve.link.source, ""), theme) for curve in layout.curves]
    if "start" in layout.boxes:
        shapes.append(_paint_start(layout.boxes["start"], theme))
    shapes += [paint_card(card, layout.boxes[card.ref], theme) for card in diagram.cards]
    shapes += [
        paint_wire(wire, theme, states[wire.card] == "unreached" or _is_unused(wire.rail, states))
        for wire in wires
    ]
    labels = [_paint_label(curve, theme) for curve in layout.curves if curve.label_at is not None]
    if diagram.trace is None:
        shapes += labels
    else:
        lines, numbers = paint_trace(diagram, diagram.trace, TracePlaces(layout, wires, heads), theme)
        told = tell_trace(diagram.trace, theme, bounds.left, bounds.bottom + 30, bounds.right - bounds.left)
        shapes += [lines, *labels, numbers, told.group]
        bounds.include(bounds.left + told.width, bounds.bottom + 30 + told.height)
    legend = paint_legend(diagram, theme, bounds.left, bounds.bottom + 34) if has_legend else None
    if legend is not None:
        shapes.append(legend.group)
        bounds.include(bounds.left + legend.width, bounds.bottom + 34 + legend.height)
    title = _paint_title(diagram, theme, bounds)
    return Drawing(
        x=bounds.left - MARGIN,
        y=bounds.top - MARGIN,
        width=bounds.right - bounds.left + 2 * MARGIN,
        height=bounds.bottom - bounds.top + 2 * MARGIN,
        background=theme.page,
        title=diagram.name,
        description=diagram.description,
        shapes=(title, *shapes),
    )


def _bounds_of(layout: Layout, placed: list[PlacedRail], wires: list[Wire], heads: dict[str, Box]) -> Bounds:
    extent = layout.extent
    bounds = Bounds(extent.x, extent.y, extent.right, extent.bottom)
    for box in heads.values():
        bounds.include_box(box)
    for each in placed:
        bounds.include(*each.start)
        bounds.include(*each.end)
    for wire in wires:
        for point in wire.points:
            bounds.include(*point)
    return bounds


def _is_unused(rail: Rail, states: Mapping[str, str]) -> bool:
    """Run overlay: no failure came to this recovery step."""
    recovery = rail.ref.removeprefix("failure:")
    return rail.kind == "failure" and states.get(f"step:{recovery}") == "unreached"


def _paint_title(diagram: Diagram, theme: Theme, bounds: Bounds) -> Group:
    """Above everything, on the left; widens the bounds."""
    lines = [(diagram.name, TITLE_SIZE, 700, theme.ink)]
    room = max(bounds.right - bounds.left, 420)
    lines += [(line, 12.0, 400, theme.muted) for line in wrap(diagram.description, room, 12)]
    if diagram.status:
        usual = "active" if diagram.trace is None else "trace"
        tone = _STATUS_TONES.get(diagram.status.rpartition(" ")[2], usual)
        lines += [(line, 12.0, 600, theme.line(tone)) for line in wrap(diagram.status, room, 12, 600)]
    y = bounds.top - 22 - sum(size * 1.4 for _, size, _, _ in lines[1:])
    x = bounds.left
    bounds.include(x, y - TITLE_SIZE)
    labels = []
    for text, size, weight, fill in lines:
        width = text_width(text, size, weight)
        labels.append(Label(x=x, y=y, text=text, size=size, fill=fill, width=width, weight=weight))
        bounds.include(x + width, y)
        y += 12 * 1.4 + (4 if size == TITLE_SIZE else 0)
    return Group(children=tuple(labels), css="heading")


def _paint_start(box: Box, theme: Theme) -> Group:
    x, y = box.x + box.width / 2, box.y + box.height / 2
    dot = Line(segments=circle(x, y, box.width / 2), fill=theme.ink)
    return Group(children=(dot,), id="start", css="start", title="the run starts here")


def _paint_curve(curve: Curve, state: str, theme: Theme) -> Group:
    color = theme.line("entry") if curve.link.kind in ("rpc_start", "timeout") else theme.line("plain")
    color = theme.line(curve.link.change) if curve.link.change else color
    width = 2.0 if curve.link.is_parallel else 1.4
    line = Line(segments=curve.segments, stroke=color, stroke_width=width)
    (x, y), (tip_x, tip_y) = curve.neck, curve.tip
    length = max(((tip_x - x) ** 2 + (tip_y - y) ** 2) ** 0.5, 0.01)
    across_x, across_y = (tip_y - y) / length * 3.6, (x - tip_x) / length * 3.6
    head = polygon((tip_x, tip_y), (x + across_x, y + across_y), (x - across_x, y - across_y))
    return Group(
        children=(line, Line(segments=head, fill=color)),
        css=f"link {curve.link.kind}",
        title=curve.link.title,
        ref=curve.link.ref,
        opacity=0.35 if state == "unreached" or curve.link.is_faded else 1,
    )


def _paint_label(curve: Curve, theme: Theme) -> Group:
    x, y = curve.label_at or curve.tip
    width = text_width(curve.link.label, SMALL_SIZE, 600)
    frame = Rect(
        x=x - width / 2 - 6,
        y=y - 8,
        width=width + 12,
        height=16,
        radius=8,
        fill=theme.page,
        stroke=theme.border,
    )
    text = Label(
        x=x,
        y=y + 3.6,
        text=curve.link.label,
        size=SMALL_SIZE,
        fill=theme.ink,
        width=width,
        weight=600,
        is_centered=True,
    )
    return Group(children=(frame, text), css="link-label", title=curve.link.title)
