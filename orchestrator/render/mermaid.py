"""The diagram as a Mermaid flowchart, for Markdown pages."""

from __future__ import annotations

import re

from orchestrator.definition.model import Flow
from orchestrator.render.cards import Card, Diagram, Link, Rail, Row
from orchestrator.render.content import compose
from orchestrator.render.overlay import RunOverlay
from orchestrator.render.style import NAME_SIZE, THEMES, Direction

_CLASSES = (
    "graceful",
    "forced",
    "failed",
    "dead_end",
    "entry",
    "done",
    "active",
    "waiting",
    "retrying",
    "cancelled",
)


def write_mermaid(
    flow: Flow, direction: Direction, layers: frozenset[str], overlay: RunOverlay | None
) -> str:
    """Cards as boxes, channels as cylinders; guards stand on the arrows."""
    diagram = compose(flow, layers, overlay)
    theme = THEMES["light"]
    lines = [f"flowchart {direction}"]
    if any(link.source == "start" for link in diagram.links):
        lines.append("  start((start))")
    lines += [f'  {_id(card.ref)}["{_text(_card_lines(card))}"]' for card in diagram.cards]
    lines += [_rail(rail) for rail in diagram.rails if rail.kind != "failure"]
    cards = {card.ref: card for card in diagram.cards}
    lines += [_link(link, cards) for link in diagram.links]
    lines += _wires(diagram)
    for name in _CLASSES:
        members = [_id(card.ref) for card in diagram.cards if _class(card) == name]
        if members:
            tone = theme.tones[name]
            lines.append(f"  classDef {name} fill:{tone.area},stroke:{tone.line},color:{theme.ink}")
            lines.append(f"  class {','.join(members)} {name}")
    return "\n".join([*lines, ""])


def _card_lines(card: Card) -> list[str]:
    """What fits a box: all but the guards and targets, which stand on the arrows."""
    lines = []
    for row in card.rows:
        for entry in row.entries:
            if row.kind == "title" and entry.size == NAME_SIZE:
                lines.append(f"**{entry.prefix}{entry.text}**")
            elif row.kind in ("wait", "entry", "title", "status") or row.is_final or entry.pill:
                lines.append(("→ " if entry.pill else "") + entry.prefix + entry.text)
        if row.badge and row.kind == "title":
            lines.append(row.badge)
    return lines


def _class(card: Card) -> str:
    if card.state and card.state != "unreached":
        return card.state
    if card.kind != "step":
        return "entry"
    ends = [row.tone for row in card.rows if row.is_final]
    is_only_end = len(ends) == sum(row.kind == "decision" for row in card.rows)
    return ends[-1] if ends and is_only_end else ""


def _rail(rail: Rail) -> str:
    text = _text([rail.name, " · ".join(rail.notes), *([rail.badge] if rail.badge else [])])
    opening, closing = {"channel": ("[(", ")]"), "attribute": ("[/", "/]"), "join": ("{{", "}}")}[rail.kind]
    return f'  {_id(rail.ref)}{opening}"{text}"{closing}'


def _link(link: Link, cards: dict[str, Card]) -> str:
    words = []
    if link.source in cards:
        row = next(row for row in cards[link.source].rows if row.port == link.port)
        words += _guard(row)
    if link.label:
        words.append(link.label)
    arrow = "==>" if link.is_parallel else "-->"
    label = f'|"{_text(words)}"|' if words else ""
    return f"  {_id(link.source)} {arrow}{label} {_id(link.target)}"


def _guard(row: Row) -> list[str]:
    return [entry.text for entry in row.entries if entry.tone == "guard"]


def _wires(diagram: Diagram) -> list[str]:
    known = {rail.ref: rail for rail in diagram.rails}
    lines = []
    for card in diagram.cards:
        for row in card.rows:
            for entry in row.entries:
                tap = entry.tap
                if tap is None or tap.rail not in known:
                    continue
                rail = known[tap.rail]
                if rail.kind != "failure":
                    pair = (
                        (_id(rail.ref), _id(card.ref)) if tap.is_incoming else (_id(card.ref), _id(rail.ref))
                    )
                    lines.append(f"  {pair[0]} -.-> {pair[1]}")
                elif not tap.is_incoming:
                    lines.append(f'  {_id(card.ref)} -. "on failure" .-> {_id("step:" + rail.name)}')
    return list(dict.fromkeys(lines))


def _id(ref: str) -> str:
    return re.sub(r"\W", "_", ref)


def _text(lines: list[str]) -> str:
    text = "<br/>".join(
        line.replace("&", "#amp;").replace("<", "#lt;").replace(">", "#gt;") for line in lines if line
    )
    return text.replace('"', "#quot;")
