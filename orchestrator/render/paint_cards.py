"""One card: areas of its rows, their lines, the frame."""

from __future__ import annotations

from orchestrator.render.cards import ICON_WIDTH, PADDING_X, PILL_PADDING, Card, Entry, Row
from orchestrator.render.icons import draw_icon
from orchestrator.render.layout import Box
from orchestrator.render.metrics import text_width
from orchestrator.render.shapes import Group, Label, Line, Rect, Segment, Shape, polyline
from orchestrator.render.style import SMALL_SIZE, Theme
from orchestrator.render.svg import element_id

CORNER = 8.0


def paint_card(card: Card, box: Box, theme: Theme) -> Group:
    shadow = Rect(
        x=box.x + 0.5,
        y=box.y + 2,
        width=box.width,
        height=box.height,
        radius=CORNER,
        fill=theme.divider,
        css="shadow",
    )
    children: list[Shape] = [shadow]
    y = box.y
    for number, row in enumerate(card.rows):
        ends = (number == 0, number == len(card.rows) - 1)
        children.append(_paint_row(row, Box(box.x, y, box.width, card.row_height(row)), ends, theme))
        y += card.row_height(row)
    children += _paint_choice_line(card, box, theme)
    is_marked = card.state not in ("", "unreached")
    stroke = (
        theme.line(card.state) if is_marked else theme.line("entry") if card.kind != "step" else theme.border
    )
    frame = Rect(
        x=box.x,
        y=box.y,
        width=box.width,
        height=box.height,
        radius=CORNER,
        stroke=stroke,
        stroke_width=2.2 if is_marked else 1.2,
        css="frame",
    )
    return Group(
        children=(*children, frame),
        id=element_id(card.ref),
        css=f"card {card.kind} {card.state}".strip(),
        title=card.title,
        ref=card.ref,
        opacity=0.42 if card.state == "unreached" else 1,
    )


def _paint_row(row: Row, box: Box, ends: tuple[bool, bool], theme: Theme) -> Group:
    area = theme.area(row.tone) if row.tone else theme.card
    children: list[Shape] = [Line(segments=_area(box, ends), fill=area)]
    if not ends[0]:
        children.append(
            Line(segments=polyline((box.x, box.y), (box.right, box.y)), stroke=theme.divider, stroke_width=1)
        )
    if row.is_final:
        bar = Rect(
            x=box.x + 1, y=box.y + 5, width=3, height=box.height - 10, radius=1.5, fill=theme.line(row.tone)
        )
        children.append(bar)
    y = box.y + row.padding
    entries: list[Shape] = []
    for entry in row.entries:
        entries += _paint_entry(entry, box.x + PADDING_X + row.gutter, y, area, theme)
        y += entry.height
    children += [Group(children=tuple(entries), opacity=0.45)] if row.is_faded else entries
    if row.badge:
        children += _paint_badge(row.badge, box, theme)
    css = f"row {row.kind} {row.tone}".strip()
    return Group(children=tuple(children), id=element_id(row.ref), css=css, title=row.title, ref=row.ref)


def _paint_entry(entry: Entry, x: float, y: float, area: str, theme: Theme) -> list[Shape]:
    tone = entry.tone
    color = {"ink": theme.ink, "muted": theme.muted, "faint": theme.faint}.get(tone) or theme.line(tone)
    middle = y + entry.height / 2
    x += entry.indent
    shapes: list[Shape] = []
    icon_color = color
    if entry.pill:
        tone_of_pill = theme.rail(int(entry.pill))
        color = icon_color = tone_of_pill.line
        frame = Rect(
            x=x,
            y=y + 1.5,
            width=entry.width - entry.indent,
            height=entry.height - 3,
            radius=(entry.height - 3) / 2,
            fill=tone_of_pill.area,
            stroke=tone_of_pill.line,
            stroke_width=0.8,
        )
        shapes.append(frame)
        x += PILL_PADDING
        area = tone_of_pill.area
    if entry.icon:
        shapes += draw_icon(entry.icon, x, middle - 6, icon_color, area)
        x += ICON_WIDTH
    baseline = middle + entry.size * 0.355
    if entry.prefix:
        width = text_width(entry.prefix, entry.size)
        shapes.append(_label(entry.prefix, x, baseline, entry.size, 400, color, width))
        x += width
    width = text_width(entry.text, entry.size, entry.weight)
    shapes.append(_label(entry.text, x, baseline, entry.size, entry.weight, color, width))
    return shapes


def _label(text: str, x: float, y: float, size: float, weight: int, fill: str, width: float) -> Label:
    stripped = text.rstrip()
    if stripped != text:
        width = text_width(stripped, size, weight)
    return Label(x=x, y=y, text=stripped, size=size, fill=fill, width=width, weight=weight)


def _paint_badge(text: str, box: Box, theme: Theme) -> list[Shape]:
    width = text_width(text, SMALL_SIZE, 700) + 12
    x, y = box.right - width - 7, box.y + 7
    tone = theme.tones["done"]
    return [
        Rect(x=x, y=y, width=width, height=16, radius=8, fill=tone.area, css="badge"),
        Label(
            x=x + width / 2,
            y=y + 11.6,
            text=text,
            size=SMALL_SIZE,
            fill=tone.line,
            width=width - 12,
            weight=700,
            is_centered=True,
        ),
    ]


def _paint_choice_line(card: Card, box: Box, theme: Theme) -> list[Shape]:
    """The mark of exclusive choice: a line down from a diamond, with a stop at each decision."""
    x = box.x + PADDING_X + 4
    stops = []
    top = box.y
    for row in card.rows:
        if row.is_choice and row.entries:
            stops.append(top + row.padding + row.entries[0].height / 2)
        top += card.row_height(row)
    if not stops:
        return []
    color = theme.muted
    shapes: list[Shape] = [
        Line(segments=polyline((x, stops[0]), (x, stops[-1])), stroke=color, stroke_width=1.1),
        *draw_icon("diamond", x - 6, stops[0] - 6, color, theme.card),
    ]
    ticks = [Line(segments=polyline((x, y), (x + 8, y)), stroke=color, stroke_width=1.1) for y in stops[1:]]
    return [*shapes, *ticks]


def _area(box: Box, ends: tuple[bool, bool]) -> tuple[Segment, ...]:
    """A rectangle, rounded where it is the card's upper or lower end."""
    upper, lower = (CORNER if ends[0] else 0.0), (CORNER if ends[1] else 0.0)
    a, b = upper * 0.45, lower * 0.45
    return (
        ("M", (box.x + upper, box.y)),
        ("L", (box.right - upper, box.y)),
        ("C", (box.right - a, box.y, box.right, box.y + a, box.right, box.y + upper)),
        ("L", (box.right, box.bottom - lower)),
        ("C", (box.right, box.bottom - b, box.right - b, box.bottom, box.right - lower, box.bottom)),
        ("L", (box.x + lower, box.bottom)),
        ("C", (box.x + b, box.bottom, box.x, box.bottom - b, box.x, box.bottom - lower)),
        ("L", (box.x, box.y + upper)),
        ("C", (box.x, box.y + a, box.x + a, box.y, box.x + upper, box.y)),
        ("Z", ()),
    )
