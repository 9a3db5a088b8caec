"""The diagram as DOT, built with the `graphviz` package, for those who lay it out or style it themselves."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from orchestrator.definition.model import Flow
from orchestrator.render.cards import Card, Diagram, Entry, Link, Rail, Row, Tap
from orchestrator.render.content import compose
from orchestrator.render.overlay import RunOverlay
from orchestrator.render.style import THEMES, Direction, Theme, ThemeName, Tone


def write_dot(
    flow: Flow, theme: ThemeName, direction: Direction, layers: frozenset[str], overlay: RunOverlay | None
) -> str:
    return draw_dot(compose(flow, layers, overlay), theme, direction)


def draw_dot(diagram: Diagram, theme: ThemeName, direction: Direction) -> str:
    """One node a card, as an HTML-like table; channels, attributes and joins as nodes of their own."""
    import graphviz

    colors = THEMES[theme]
    graph = graphviz.Digraph(diagram.name)
    graph.attr(rankdir=direction, bgcolor=colors.page, nodesep="0.5", ranksep="0.6", labelloc="t")
    graph.attr(fontname="Helvetica", label=f"<{_heading(diagram, colors)}>")
    graph.attr("node", fontname="Helvetica", shape="plain")
    graph.attr("edge", fontname="Helvetica", fontsize="10", arrowsize="0.7")
    graph.attr("edge", color=colors.line("plain"), fontcolor=colors.muted)
    if any(link.source == "start" for link in diagram.links):
        dot = {"shape": "circle", "style": "filled", "fillcolor": colors.ink, "width": "0.22"}
        graph.node("start", label="", fixedsize="true", tooltip="start", **dot)
    for card in diagram.cards:
        _add_card(graph, card, colors)
    for rail in diagram.rails:
        if rail.kind != "failure":
            _add_rail(graph, rail, colors)
    for link in diagram.links:
        _add_link(graph, link, colors)
    for wire in _wires(diagram, colors):
        graph.edge(wire.tail, wire.head, **dict(wire.style))
    return str(graph.source)


def _name(ref: str) -> str:
    """Node names without the colon, which separates ports in DOT."""
    return ref.replace(":", "/")


def _heading(diagram: Diagram, theme: Theme) -> str:
    parts = [f'<FONT POINT-SIZE="18" COLOR="{theme.ink}"><B>{escape(diagram.name)}</B></FONT>']
    parts += [
        f'<FONT POINT-SIZE="11" COLOR="{theme.muted}">{escape(text)}</FONT>'
        for text in (diagram.description, diagram.status)
        if text
    ]
    return "<BR/>".join(parts) + "<BR/> "


def _add_card(graph: Any, card: Card, theme: Theme) -> None:
    rows = "".join(f"<TR>{_row(row, theme)}</TR>" for row in card.rows)
    border = theme.line(card.state) if card.state not in ("", "unreached") else theme.border
    table = (
        f'<TABLE BORDER="1" COLOR="{border}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="5" '
        f'BGCOLOR="{theme.card}">{rows}</TABLE>'
    )
    graph.node(_name(card.ref), label=f"<{table}>", tooltip=card.title)


def _row(row: Row, theme: Theme) -> str:
    area = theme.area(row.tone) if row.tone else theme.card
    lines = "".join(_entry(entry, theme) for entry in row.entries)
    badge = (
        f'<FONT POINT-SIZE="10" COLOR="{theme.line("done")}"><B>{row.badge}</B></FONT> ' if row.badge else ""
    )
    return f'<TD ALIGN="LEFT" BALIGN="LEFT" PORT="{row.port}" BGCOLOR="{area}">{badge}{lines}</TD>'


_SIGNS = {"arrow": "→ ", "publish": "→ ", "cancel": "× "}
"""Only such as every font has."""


def _entry(entry: Entry, theme: Theme) -> str:
    tone = entry.tone
    color = {"ink": theme.ink, "muted": theme.muted, "faint": theme.faint}.get(tone) or theme.line(tone)
    if entry.pill:
        color = theme.rail(int(entry.pill)).line
    text = escape(entry.text)
    text = f"<B>{text}</B>" if entry.weight >= 600 else text
    indent = "&nbsp;&nbsp;&nbsp;&nbsp;" if entry.indent else ""
    words = indent + _SIGNS.get(entry.icon, "") + escape(entry.prefix) + text
    return f'<FONT POINT-SIZE="{entry.size:g}" COLOR="{color}">{words}</FONT><BR ALIGN="LEFT"/>'


def _rail_tone(rail: Rail, theme: Theme) -> Tone:
    if rail.change:
        return theme.tones[rail.change]
    return theme.rail(rail.color) if rail.kind == "channel" else theme.tones[rail.kind]


def _add_rail(graph: Any, rail: Rail, theme: Theme) -> None:
    tone = _rail_tone(rail, theme)
    shape = {"channel": "cylinder", "attribute": "note", "join": "hexagon"}[rail.kind]
    label = "\n".join(part for part in (rail.name, " · ".join(rail.notes), rail.badge) if part)
    colors = {"fillcolor": tone.area, "color": tone.line, "fontcolor": tone.line}
    sizes = {"fontsize": "10", "margin": "0.14,0.08"}
    graph.node(
        _name(rail.ref), label=label, shape=shape, style="filled", tooltip=rail.title, **colors, **sizes
    )


def _add_link(graph: Any, link: Link, theme: Theme) -> None:
    style = {"class": link.kind, "tooltip": link.title or link.kind}
    if link.label:
        style["label"] = " " + link.label
    if link.is_parallel:
        style["penwidth"] = "1.8"
    if link.change:
        style["color"] = theme.line(link.change)
    graph.edge(_port(link.source, link.port), _name(link.target), **style)


def _port(ref: str, port: str) -> str:
    return f"{_name(ref)}:{port}" if port else _name(ref)


class Wire(NamedTuple):
    tail: str
    head: str
    style: tuple[tuple[str, str], ...]


def _wires(diagram: Diagram, theme: Theme) -> list[Wire]:
    rails = {rail.ref: rail for rail in diagram.rails}
    wires: dict[Wire, None] = {}
    for card in diagram.cards:
        for row in card.rows:
            for entry in row.entries:
                if entry.tap is not None and entry.tap.rail in rails:
                    wires.update(dict.fromkeys(_wire(card, row, entry.tap, rails[entry.tap.rail], theme)))
    return list(wires)


def _wire(card: Card, row: Row, tap: Tap, rail: Rail, theme: Theme) -> list[Wire]:
    port = _port(card.ref, row.port)
    if rail.kind == "failure":
        if tap.is_incoming:
            return []
        color = ("color", theme.line("failure"))
        style = (("class", tap.kind), color, ("penwidth", "1.6"), ("tooltip", "on failure"))
        return [Wire(port, f"{_name('step:' + rail.name)}:t", style)]
    tone = _rail_tone(rail, theme)
    style = (("style", "dashed"), ("color", tone.line), ("arrowhead", "vee"), ("class", tap.kind))
    if tap.is_incoming:
        return [Wire(_name(rail.ref), port, style)]
    return [Wire(port, _name(rail.ref), (*style, ("constraint", "false")))]
