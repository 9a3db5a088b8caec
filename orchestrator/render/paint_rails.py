"""Rails with their heads, and the wires between rails and cards."""

from __future__ import annotations

from orchestrator.render.cards import Rail
from orchestrator.render.layout import Box
from orchestrator.render.metrics import text_width
from orchestrator.render.shapes import (
    Group,
    Label,
    Line,
    Rect,
    Segment,
    Shape,
    circle,
    polygon,
    polyline,
    rounded,
)
from orchestrator.render.style import SMALL_SIZE, TEXT_SIZE, Direction, Theme, Tone
from orchestrator.render.svg import element_id
from orchestrator.render.wires import PlacedRail, Wire

HEAD_HEIGHT = 36.0
HEAD_GAP = 8.0
HEAD_OVERHANG = 9.0
"""How far a head reaches left of its rail."""
CAP = 7.0
NOTE_SIZE = 9.0


def rail_tone(rail: Rail, theme: Theme) -> Tone:
    if rail.change:
        return theme.tones[rail.change]
    return theme.rail(rail.color) if rail.kind == "channel" else theme.tones[rail.kind]


def place_heads(placed: list[PlacedRail], direction: Direction) -> dict[str, Box]:
    """Boxes of the rails' heads. Downwards: staggered, so that each stands left of and above the next."""
    heads: dict[str, Box] = {}
    named = [each for each in placed if each.rail.kind != "failure"]
    limit = float("inf")
    for each in reversed(named):
        width = _head_width(each.rail)
        x, y = each.head_at
        if direction == "LR":
            heads[each.rail.ref] = Box(x - width, y - HEAD_HEIGHT / 2 + 2, width, HEAD_HEIGHT - 4)
            continue
        bottom = min(y - 16, limit)
        heads[each.rail.ref] = Box(x - HEAD_OVERHANG, bottom - HEAD_HEIGHT, width, HEAD_HEIGHT)
        limit = bottom - HEAD_HEIGHT - HEAD_GAP
    return heads


def _head_width(rail: Rail) -> float:
    widest = max(text_width(rail.name, TEXT_SIZE, 600), text_width(" · ".join(rail.notes), NOTE_SIZE))
    badge = text_width(rail.badge, SMALL_SIZE, 700) + 20 if rail.badge else 0
    return round(widest + badge + 2 * CAP + 16)


def paint_rail(
    placed: PlacedRail, head: Box | None, theme: Theme, direction: Direction, is_faded: bool = False
) -> Group:
    rail = placed.rail
    tone = rail_tone(rail, theme)
    start = placed.start
    if head is not None:
        start = (placed.start[0], head.bottom) if direction == "TB" else (head.right, placed.start[1])
    children: list[Shape] = []
    track = polyline(start, placed.end)
    if rail.kind == "channel":
        children.append(Line(segments=circle(*placed.end, 2.75), fill=tone.line))
        children.append(Line(segments=track, stroke=tone.line, stroke_width=5.5))
        children.append(Line(segments=track, stroke=tone.area, stroke_width=3.6))
    else:
        width = {"failure": 1.8, "join": 3.5}.get(rail.kind, 1.3)
        children.append(Line(segments=track, stroke=tone.line, stroke_width=width))
    if head is not None:
        children += _paint_head(rail, head, tone, theme)
    return Group(
        children=tuple(children),
        id=element_id(rail.ref),
        css=f"rail {rail.kind}",
        title=rail.title or rail.name,
        ref="" if rail.kind == "failure" else rail.ref,
        opacity=0.35 if is_faded else 1,
    )


def _paint_head(rail: Rail, box: Box, tone: Tone, theme: Theme) -> list[Shape]:
    shapes: list[Shape] = []
    if rail.kind == "channel":
        shapes.append(Line(segments=_cylinder(box), fill=tone.area, stroke=tone.line, stroke_width=1.2))
        shapes.append(Line(segments=_lid(box), stroke=tone.line, stroke_width=1.2))
    else:
        radius = 3.0 if rail.kind == "attribute" else 9.0
        shapes.append(
            Rect(
                x=box.x,
                y=box.y,
                width=box.width,
                height=box.height,
                radius=radius,
                fill=tone.area,
                stroke=tone.line,
                stroke_width=1.2,
            )
        )
    x = box.x + CAP + 4
    notes = " · ".join(rail.notes)
    name_y = box.y + (box.height / 2 - 2 if notes else box.height / 2 + 4)
    name_width = text_width(rail.name, TEXT_SIZE, 600)
    shapes.append(
        Label(x=x, y=name_y, text=rail.name, size=TEXT_SIZE, fill=tone.line, width=name_width, weight=600)
    )
    if notes:
        width = text_width(notes, NOTE_SIZE)
        shapes.append(Label(x=x, y=name_y + 12, text=notes, size=NOTE_SIZE, fill=theme.muted, width=width))
    if rail.badge:
        width = text_width(rail.badge, SMALL_SIZE, 700)
        left = box.right - CAP - width - 20
        shapes.append(
            Rect(x=left, y=box.y + 7, width=width + 12, height=16, radius=8, fill=tone.line, css="badge")
        )
        shapes.append(
            Label(
                x=left + 6,
                y=box.y + 18.6,
                text=rail.badge,
                size=SMALL_SIZE,
                fill=tone.area,
                width=width,
                weight=700,
            )
        )
    return shapes


def _cylinder(box: Box) -> tuple[Segment, ...]:
    left, right, top, bottom = box.x + CAP, box.right - CAP, box.y, box.bottom
    bulge = CAP * 1.33
    return (
        ("M", (left, top)),
        ("L", (right, top)),
        ("C", (right + bulge, top, right + bulge, bottom, right, bottom)),
        ("L", (left, bottom)),
        ("C", (left - bulge, bottom, left - bulge, top, left, top)),
        ("Z", ()),
    )


def _lid(box: Box) -> tuple[Segment, ...]:
    right, bulge = box.right - CAP, CAP * 1.33
    return (
        ("M", (right, box.y)),
        ("C", (right - bulge, box.y, right - bulge, box.bottom, right, box.bottom)),
    )


def paint_wire(wire: Wire, theme: Theme, is_faded: bool) -> Group:
    tone = rail_tone(wire.rail, theme)
    is_failure = wire.rail.kind == "failure"
    dash = {"channel": (4.0, 3.0), "attribute": (1.5, 2.5)}.get(wire.rail.kind, ())
    points = list(wire.points)
    line = Line(
        segments=rounded(points), stroke=tone.line, stroke_width=1.8 if is_failure else 1.3, dash=dash
    )
    children: list[Shape] = [line]
    if wire.tap.is_incoming:
        children.append(_arrow_head(points[-2], points[-1], tone.line))
        if not is_failure:
            children.append(Line(segments=circle(*points[0], 2.8), fill=tone.line))
    elif is_failure:
        children.append(Line(segments=circle(*points[0], 3), fill=tone.line))
    else:
        children.append(_arrow_head(points[-2], points[-1], tone.line))
    return Group(
        children=tuple(children),
        css=f"wire {wire.tap.kind}",
        title=wire.tap.title,
        ref=wire.card,
        opacity=0.35 if is_faded else 1,
    )


def _arrow_head(before: tuple[float, float], tip: tuple[float, float], color: str) -> Line:
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    length = max((dx * dx + dy * dy) ** 0.5, 0.01)
    dx, dy = dx / length, dy / length
    back = (tip[0] - 7 * dx, tip[1] - 7 * dy)
    return Line(
        segments=polygon(
            tip, (back[0] - 3.3 * dy, back[1] + 3.3 * dx), (back[0] + 3.3 * dy, back[1] - 3.3 * dx)
        ),
        fill=color,
    )
