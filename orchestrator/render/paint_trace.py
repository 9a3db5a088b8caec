"""A trace on a diagram: the arrows and wires that it takes in red, numbered, and its events told below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.render.cards import Card, Diagram
from orchestrator.render.layout import Box, Curve, Layout
from orchestrator.render.metrics import text_width, wrap
from orchestrator.render.overlay import Trace, TraceMark
from orchestrator.render.shapes import (
    Group,
    Label,
    Line,
    Point,
    Rect,
    Shape,
    points_along,
    polygon,
    rounded,
)
from orchestrator.render.style import SMALL_SIZE, TEXT_SIZE, Theme
from orchestrator.render.wires import Wire

_LINE_WIDTH = 2.6
_BADGE = 16.0
"""Height of a badge, and its least width."""
_SHARES = (0.35, 0.65, 0.2, 0.8, 0.5)
"""Where along its arrow a number may stand, the best first."""
_LABEL_ROOM = 22.0
_LINE_HEIGHT = 17.0
_LEAST_WIDTH = 560.0
_FAILURE = "f"
"""Port of the row that leads to the recovery step; its wire leaves on the left."""


@dataclass(frozen=True, slots=True)
class TracePlaces:
    """Where everything stands that a trace can touch."""

    layout: Layout
    wires: Sequence[Wire]
    heads: dict[str, Box]
    """Of rails, by ref."""


@dataclass(frozen=True, slots=True)
class Told:
    group: Group
    width: float
    height: float


def paint_trace(diagram: Diagram, trace: Trace, places: TracePlaces, theme: Theme) -> tuple[Group, Group]:
    """The lines, and the numbers that stand over everything."""
    cards = {card.ref: card for card in diagram.cards}
    lines: list[Shape] = []
    numbers: dict[tuple[Point, int], list[int]] = {}
    for mark in trace.marks:
        curves = _curves_of(mark, places)
        lines += [_red_curve(curve, theme) for curve in curves]
        lines += [_red_wire(_points_of(wire, places), theme) for wire in _wires_of(mark, cards, places)]
        points = [(_point_on(curve), 0) for curve in curves] or list(_point_of(mark, cards, places))
        for point in points:
            numbers.setdefault(point, []).append(mark.number)
    badges = [_badge(point, _shown(listed), theme, side) for (point, side), listed in numbers.items()]
    return (
        Group(children=tuple(lines), id="trace", css="trace", title=trace.title),
        Group(children=tuple(badges), id="trace-numbers", css="trace"),
    )


def _shown(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if len(numbers) < 5 else f"{numbers[0]}, …, {numbers[-1]}"


# --- Lines --------------------------------------------------------------------------------------------------


def _curves_of(mark: TraceMark, places: TracePlaces) -> list[Curve]:
    """The arrows of the decision that was taken, to what it started."""
    return [
        curve
        for curve in places.layout.curves
        if (curve.link.source, curve.link.port) == (mark.card, mark.port)
        and curve.link.target in mark.targets
    ]


def _wires_of(mark: TraceMark, cards: dict[str, Card], places: TracePlaces) -> Iterator[Wire]:
    """Between the row where it happens and the channels that it touches, or the recovery step."""
    card = cards.get(mark.card)
    if card is None:
        return
    taps = [
        entry.tap
        for row in card.rows
        if row.port == mark.port or (row.port == "t" and mark.port.startswith("d"))
        for entry in row.entries
        if entry.tap is not None
    ]
    for wire in places.wires:
        is_touched = wire.rail.ref in mark.rails or mark.port == _FAILURE
        if wire.card == mark.card and is_touched and any(wire.tap is tap for tap in taps):
            yield wire


def _red_curve(curve: Curve, theme: Theme) -> Group:
    (x, y), (tip_x, tip_y) = curve.neck, curve.tip
    return Group(
        children=(
            Line(segments=curve.segments, stroke=theme.line("trace"), stroke_width=_LINE_WIDTH),
            _head((x, y), (tip_x, tip_y), theme),
        ),
        css="trace-link",
    )


def _points_of(wire: Wire, places: TracePlaces) -> list[Point]:
    """A failure's goes on, along the rail, to the recovery step."""
    points = list(wire.points)
    if wire.rail.kind == "failure":
        onwards = (each for each in places.wires if each.rail is wire.rail and each.tap.is_incoming)
        points += next(onwards, wire).points if not wire.tap.is_incoming else ()
    return points


def _red_wire(points: list[Point], theme: Theme) -> Group:
    line = Line(segments=rounded(points), stroke=theme.line("trace"), stroke_width=_LINE_WIDTH - 0.6)
    (x, y), (tip_x, tip_y) = points[-2], points[-1]
    length = max(((tip_x - x) ** 2 + (tip_y - y) ** 2) ** 0.5, 0.01)
    neck = (tip_x - 8 * (tip_x - x) / length, tip_y - 8 * (tip_y - y) / length)
    return Group(children=(line, _head(neck, (tip_x, tip_y), theme)), css="trace-wire")


def _head(neck: Point, tip: Point, theme: Theme) -> Line:
    (x, y), (tip_x, tip_y) = neck, tip
    length = max(((tip_x - x) ** 2 + (tip_y - y) ** 2) ** 0.5, 0.01)
    across_x, across_y = (tip_y - y) / length * 4.4, (x - tip_x) / length * 4.4
    corners = (tip, (x + across_x, y + across_y), (x - across_x, y - across_y))
    return Line(segments=polygon(*corners), fill=theme.line("trace"))


# --- Numbers ------------------------------------------------------------------------------------------------


def _point_on(curve: Curve) -> Point:
    """On the arrow, clear of its label."""
    points = list(points_along(curve.segments, 16))
    candidates = [points[min(int(share * len(points)), len(points) - 1)] for share in _SHARES]
    label = curve.label_at
    if label is None:
        return _rounded(candidates[0])
    free = (point for point in candidates if _distance(point, label) > _LABEL_ROOM)
    return _rounded(next(free, candidates[2]))


def _distance(one: Point, other: Point) -> float:
    """Labels are wide: what stands beside one is close."""
    return max(abs(one[0] - other[0]) / 2, abs(one[1] - other[1]))


def _point_of(mark: TraceMark, cards: dict[str, Card], places: TracePlaces) -> Iterator[tuple[Point, int]]:
    """On the border of the card, beside its row; on the head of a channel; and the side that has room."""
    if mark.card in places.heads:
        head = places.heads[mark.card]
        yield _rounded((head.x, head.y)), -1
        return
    card, box = cards.get(mark.card), places.layout.boxes.get(mark.card)
    if card is None or box is None:
        return
    ports = {row.port: row for row in card.rows}
    port = mark.port if mark.port in ports else card.rows[0].port
    y = box.y + card.row_top(port) + min(card.row_height(ports[port]) / 2, 16)
    yield (_rounded((box.right, y)), 1) if port == _FAILURE else (_rounded((box.x, y)), -1)


def _rounded(point: Point) -> Point:
    return round(point[0], 1), round(point[1], 1)


def _badge(at: Point, text: str, theme: Theme, side: int = 0) -> Group:
    """Wide ones reach out to the left (-1) or to the right (1)."""
    width = text_width(text, SMALL_SIZE, 700)
    whole = max(_BADGE, width + 9)
    x, y = at[0] + side * (whole - _BADGE) / 2, at[1]
    tone = theme.tones["trace"]
    frame = Rect(
        x=x - whole / 2,
        y=y - _BADGE / 2,
        width=whole,
        height=_BADGE,
        radius=_BADGE / 2,
        fill=tone.line,
        stroke=theme.page,
        stroke_width=1.2,
    )
    label = Label(
        x=x, y=y + 3.6, text=text, size=SMALL_SIZE, fill=tone.area, width=width, weight=700, is_centered=True
    )
    return Group(children=(frame, label), css="trace-number")


# --- The events in words ------------------------------------------------------------------------------------


def tell_trace(trace: Trace, theme: Theme, x: float, y: float, room: float) -> Told:
    """In a box below the diagram, one event a line."""
    width = max(room, _LEAST_WIDTH)
    thread_width = max((text_width(mark.thread, TEXT_SIZE, 600) for mark in trace.marks), default=0)
    text_x = x + 14 + 26 + thread_width + 14
    children: list[Shape] = [_text(trace.title, x + 14, y + 22, theme.line("trace"), 600)]
    top = y + 22 + 8
    for mark in trace.marks:
        middle = top + _LINE_HEIGHT / 2
        children.append(_badge((x + 24, middle), str(mark.number), theme))
        children.append(_text(mark.thread, x + 14 + 26, middle + 4, theme.ink, 600))
        for line in wrap(mark.text, x + width - 14 - text_x, TEXT_SIZE, 400, 4):
            children.append(_text(line, text_x, top + _LINE_HEIGHT / 2 + 4, theme.ink, 400))
            top += _LINE_HEIGHT
        top += 2
    top += 4 if trace.notes else 0
    for note in trace.notes:
        for line in wrap(note, width - 28, TEXT_SIZE, 400, 4):
            children.append(_text(line, x + 14, top + _LINE_HEIGHT / 2 + 4, theme.muted, 400))
            top += _LINE_HEIGHT
    height = top + 10 - y
    frame = Rect(x=x, y=y, width=width, height=height, radius=8, stroke=theme.line("trace"), fill=theme.card)
    return Told(Group(children=(frame, *children), id="trace-events", css="trace-events"), width, height)


def _text(text: str, x: float, y: float, fill: str, weight: int) -> Label:
    width = text_width(text, TEXT_SIZE, weight)
    return Label(x=x, y=y, text=text, size=TEXT_SIZE, fill=fill, width=width, weight=weight)
