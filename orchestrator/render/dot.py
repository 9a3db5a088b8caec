"""The diagram as DOT, for those who lay it out or style it themselves."""

from __future__ import annotations

from html import escape

from orchestrator.definition.model import Flow
from orchestrator.render.cards import Card, Diagram, Entry, Link, Rail, Row, Tap
from orchestrator.render.content import compose
from orchestrator.render.overlay import RunOverlay
from orchestrator.render.style import THEMES, Direction, Theme, ThemeName


def write_dot(
    flow: Flow, theme: ThemeName, direction: Direction, layers: frozenset[str], overlay: RunOverlay | None
) -> str:
    """One node a card, as an HTML-like table; channels, attributes and joins as nodes of their own."""
    diagram = compose(flow, layers, overlay)
    colors = THEMES[theme]
    lines = [
        f"digraph {_quote(diagram.name)} {{",
        f"  rankdir={direction}; bgcolor={_quote(colors.page)}; nodesep=0.5; ranksep=0.6; "
        'labelloc=t; fontname="Helvetica";',
        f"  label=<{_heading(diagram, colors)}>;",
        '  node [fontname="Helvetica", shape=plain];',
        f'  edge [fontname="Helvetica", fontsize=10, color={_quote(colors.line("plain"))}, '
        f"fontcolor={_quote(colors.muted)}, arrowsize=0.7];",
    ]
    if any(link.source == "start" for link in diagram.links):
        lines.append(
            f'  start [shape=circle, style=filled, fillcolor={_quote(colors.ink)}, label="", '
            'width=0.22, fixedsize=true, tooltip="start"];'
        )
    lines += [_card(card, colors) for card in diagram.cards]
    lines += [_rail(rail, colors) for rail in diagram.rails if rail.kind != "failure"]
    lines += [_link(link) for link in diagram.links]
    lines += _wires(diagram, colors)
    return "\n".join([*lines, "}", ""])


def _heading(diagram: Diagram, theme: Theme) -> str:
    parts = [f'<FONT POINT-SIZE="18" COLOR="{theme.ink}"><B>{escape(diagram.name)}</B></FONT>']
    parts += [
        f'<FONT POINT-SIZE="11" COLOR="{theme.muted}">{escape(text)}</FONT>'
        for text in (diagram.description, diagram.status)
        if text
    ]
    return "<BR/>".join(parts) + "<BR/> "


def _card(card: Card, theme: Theme) -> str:
    rows = "".join(f"<TR>{_row(row, theme)}</TR>" for row in card.rows)
    border = theme.line(card.state) if card.state not in ("", "unreached") else theme.border
    table = (
        f'<TABLE BORDER="1" COLOR="{border}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="5" '
        f'BGCOLOR="{theme.card}">{rows}</TABLE>'
    )
    return f"  {_quote(card.ref)} [tooltip={_quote(card.title)}, label=<{table}>];"


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


def _rail(rail: Rail, theme: Theme) -> str:
    tone = theme.rail(rail.color) if rail.kind == "channel" else theme.tones[rail.kind]
    shape = {"channel": "cylinder", "attribute": "note", "join": "hexagon"}[rail.kind]
    label = "\n".join(part for part in (rail.name, " · ".join(rail.notes), rail.badge) if part)
    return (
        f"  {_quote(rail.ref)} [shape={shape}, style=filled, fillcolor={_quote(tone.area)}, "
        f'color={_quote(tone.line)}, fontcolor={_quote(tone.line)}, fontsize=10, margin="0.14,0.08", '
        f"label={_quote(label)}, tooltip={_quote(rail.title)}];"
    )


def _link(link: Link) -> str:
    attributes = [f"class={_quote(link.kind)}", f"tooltip={_quote(link.title or link.kind)}"]
    if link.label:
        attributes.append(f"label={_quote(' ' + link.label)}")
    if link.is_parallel:
        attributes.append("penwidth=1.8")
    source = _quote(link.source) + (f":{link.port}" if link.port else "")
    return f"  {source} -> {_quote(link.target)} [{', '.join(attributes)}];"


def _wires(diagram: Diagram, theme: Theme) -> list[str]:
    rails = {rail.ref: rail for rail in diagram.rails}
    lines = []
    for card in diagram.cards:
        for row in card.rows:
            for entry in row.entries:
                if entry.tap is not None and entry.tap.rail in rails:
                    lines += _wire(card, row, entry.tap, rails[entry.tap.rail], theme)
    return list(dict.fromkeys(lines))


def _wire(card: Card, row: Row, tap: Tap, rail: Rail, theme: Theme) -> list[str]:
    port = f"{_quote(card.ref)}:{row.port}"
    if rail.kind == "failure":
        if tap.is_incoming:
            return []
        style = f'color={_quote(theme.line("failure"))}, penwidth=1.6, tooltip="on failure"'
        return [f"  {port} -> {_quote('step:' + rail.name)}:t [class={tap.kind}, {style}];"]
    tone = theme.rail(rail.color) if rail.kind == "channel" else theme.tones[rail.kind]
    style = f"style=dashed, color={_quote(tone.line)}, arrowhead=vee, class={tap.kind}"
    if tap.is_incoming:
        return [f"  {_quote(rail.ref)} -> {port} [{style}];"]
    return [f"  {port} -> {_quote(rail.ref)} [{style}, constraint=false];"]


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
