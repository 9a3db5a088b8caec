"""The key to a diagram: only what occurs in it."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.render.cards import Diagram
from orchestrator.render.icons import draw_icon
from orchestrator.render.metrics import text_width
from orchestrator.render.shapes import Group, Label, Line, Rect, Shape, circle, polyline
from orchestrator.render.style import SMALL_SIZE, Theme

_ITEM_GAP = 20.0
_LINE_HEIGHT = 22.0
_SAMPLE_WIDTH = 28.0
_MAXIMUM_WIDTH = 760.0


@dataclass(frozen=True, slots=True)
class Legend:
    group: Group
    width: float
    height: float


_WORDS = {
    "start": "start of the run",
    "wait": "what the step waits for",
    "control": "then",
    "parallel": "in parallel",
    "failure": "when all attempts failed",
    "channel": "channel",
    "publish": "publish, receive",
    "one_of": "exactly one is taken",
    "graceful": "complete when all is done",
    "forced": "complete now",
    "failed": "fail",
    "dead_end": "branch ends",
    "entry": "started from outside",
    "join": "join",
    "attribute": "attribute",
    "set": "writes an attribute",
    "lock": "locks an attribute",
    "done": "done",
    "active": "active",
    "waiting": "waiting",
    "retrying": "retrying",
    "failed_run": "failed",
    "cancelled": "cancelled",
    "added": "added",
    "removed": "removed",
    "changed": "changed",
}


def paint_legend(diagram: Diagram, theme: Theme, x: float, y: float) -> Legend:
    """In lines from `x`, `y` on."""
    children: list[Shape] = []
    left, top, widest = x + 14, y + 12, 0.0
    for item in _items(diagram):
        words = _WORDS[item]
        width = _SAMPLE_WIDTH + 6 + text_width(words, SMALL_SIZE)
        if left + width > x + _MAXIMUM_WIDTH:
            left, top = x + 14, top + _LINE_HEIGHT
        children += _sample(item, left, top, theme)
        label_x = left + _SAMPLE_WIDTH + 6
        label = Label(
            x=label_x,
            y=top + 9.6,
            text=words,
            size=SMALL_SIZE,
            fill=theme.muted,
            width=text_width(words, SMALL_SIZE),
        )
        children.append(label)
        left += width + _ITEM_GAP
        widest = max(widest, left - _ITEM_GAP - x)
    width, height = widest + 14, top + 12 + 12 - y
    frame = Rect(x=x, y=y, width=width, height=height, radius=8, stroke=theme.divider, fill=theme.card)
    return Legend(Group(children=(frame, *children), id="legend", css="legend"), width, height)


def _items(diagram: Diagram) -> list[str]:
    rows = [row for card in diagram.cards for row in card.rows]
    kinds = {row.kind for row in rows} | {rail.kind for rail in diagram.rails} | {row.tone for row in rows}
    if any(link.source == "start" for link in diagram.links):
        kinds.add("start")
    if diagram.links:
        kinds.add("control")
    if any(link.is_parallel for link in diagram.links):
        kinds.add("parallel")
    if "channel" in kinds:
        kinds.add("publish")
    kinds |= diagram.states | {entry.icon for row in rows for entry in row.entries} & {"set", "lock"}
    if "failed" in diagram.states:
        kinds.add("failed_run")
    if not any(row.tone == "failed" and row.kind == "decision" for row in rows):
        kinds.discard("failed")
    return [item for item in _WORDS if item in kinds]


def _sample(item: str, x: float, y: float, theme: Theme) -> list[Shape]:
    middle = y + 6
    if item == "start":
        return [Line(segments=circle(x + 14, middle, 6), fill=theme.ink)]
    if item in ("control", "parallel"):
        width = 2.0 if item == "parallel" else 1.4
        color = theme.line("plain")
        return [
            Line(segments=polyline((x, middle), (x + 27, middle)), stroke=color, stroke_width=width),
            Line(
                segments=polyline((x + 21, middle - 3.5), (x + 27, middle), (x + 21, middle + 3.5)),
                fill=color,
            ),
        ]
    if item == "failure":
        color = theme.line("failure")
        return [
            Line(segments=circle(x + 3, middle, 3), fill=color),
            Line(segments=polyline((x + 3, middle), (x + 27, middle)), stroke=color, stroke_width=1.8),
            Line(
                segments=polyline((x + 21, middle - 3.5), (x + 27, middle), (x + 21, middle + 3.5)),
                fill=color,
            ),
        ]
    if item == "publish":
        track = polyline((x, middle), (x + 27, middle))
        return [Line(segments=track, stroke=theme.rail(0).line, stroke_width=1.3, dash=(4, 3))]
    if item == "one_of":
        return draw_icon("diamond", x + 8, y, theme.muted, theme.card)
    if item in ("set", "lock"):
        return draw_icon(item, x + 8, y, theme.line("attribute"), theme.card)
    if item == "channel":
        return draw_icon("channel", x + 8, y, theme.rail(0).line, theme.rail(0).area)
    tone = theme.tones[item]
    swatch = Rect(x=x + 2, y=y, width=24, height=12, radius=3, fill=tone.area, stroke=tone.line)
    return [swatch]
