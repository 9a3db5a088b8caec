"""Two versions of a flow as one diagram: what is added in green, removed in red, changed in amber.

It compares what the two diagrams say, so a change that no diagram shows (a retry's interval) is not painted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from orchestrator.definition.model import Flow
from orchestrator.render.cards import Card, Diagram, Entry, Link, Rail, Row
from orchestrator.render.content import compose

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


def compose_difference(
    old: Flow, new: Flow, layers: frozenset[str], renamed: Mapping[str, str] | None = None
) -> Diagram:
    """`renamed`: new step names by old."""
    before = _rename(compose(old, layers), renamed or {})
    after = compose(new, layers)
    cards, ports = _merge_cards(before, after)
    links = _merge_links(before.links, after.links, ports)
    is_linked = {(link.source, link.port) for link in links}
    return Diagram(
        name=after.name,
        description=after.description,
        cards=tuple(cards),
        links=links,
        rails=_merge_rails(before.rails, after.rails),
        routes=tuple(dict.fromkeys((*after.routes, *before.routes))),
        status=_status(cards),
        states=frozenset(card.state for card in cards if card.state)
        | frozenset(link.change for link in links if link.change and (link.source, link.port) in is_linked),
    )


def _status(cards: Sequence[Card]) -> str:
    counts = [(word, sum(card.state == word for card in cards)) for word in (ADDED, REMOVED, CHANGED)]
    said = [f"{count} {word}" for word, count in counts if count]
    return f"difference of two versions: {', '.join(said)}" if said else "no difference that a diagram shows"


def _rename(diagram: Diagram, renamed: Mapping[str, str]) -> Diagram:
    """The old diagram under the new names of its cards, so that they meet."""
    names = {f"step:{old}": f"step:{new}" for old, new in renamed.items()}

    def of(ref: str) -> str:
        return names.get(ref, ref)

    return replace(
        diagram,
        cards=tuple(replace(card, ref=of(card.ref)) for card in diagram.cards),
        links=tuple(replace(link, source=of(link.source), target=of(link.target)) for link in diagram.links),
        routes=tuple((of(recovery), of(source)) for recovery, source in diagram.routes),
    )


# --- Cards --------------------------------------------------------------------------------------------------

Ports = dict[tuple[str, str], str]
"""Port in the merged diagram by card and port of the old one."""


def _merge_cards(before: Diagram, after: Diagram) -> tuple[list[Card], Ports]:
    old = {card.ref: card for card in before.cards}
    cards, ports = [], Ports()
    for card in after.cards:
        former = old.get(card.ref)
        if former is None:
            cards.append(
                replace(card, state=ADDED, rows=tuple(replace(row, tone=ADDED) for row in card.rows))
            )
        else:
            cards.append(_merge_card(former, card, ports))
    known = {card.ref for card in after.cards}
    for card in before.cards:
        if card.ref not in known:
            cards.append(
                replace(card, state=REMOVED, rows=tuple(replace(row, tone=REMOVED) for row in card.rows))
            )
            ports |= {(card.ref, row.port): row.port for row in card.rows}
    return cards, ports


def _merge_card(before: Card, after: Card, ports: Ports) -> Card:
    """Rows of both, in the order written; those of the old version get ports of their own."""
    matcher = SequenceMatcher(
        None, [_content(r) for r in before.rows], [_content(r) for r in after.rows], False
    )
    rows: list[Row] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            ports |= {
                (before.ref, old.port): new.port
                for old, new in zip(before.rows[i:j], after.rows[k:m], strict=True)
            }
            rows += after.rows[k:m]
            continue
        rows += _merge_rows(before.ref, before.rows[i:j], after.rows[k:m], ports)
    is_same = all(row.tone not in (ADDED, REMOVED, CHANGED) for row in rows)
    return replace(after, rows=tuple(rows), state="" if is_same else CHANGED)


def _merge_rows(ref: str, gone: Sequence[Row], come: Sequence[Row], ports: Ports) -> list[Row]:
    """What stands in the place of what; a card has one title."""
    old, new = ([row.kind for row in rows] for rows in (gone, come))
    if "title" in old and "title" in new:
        i, k = old.index("title"), new.index("title")
        ports[ref, gone[i].port] = come[k].port
        above = _merge_rows(ref, gone[:i], come[:k], ports)
        below = _merge_rows(ref, gone[i + 1 :], come[k + 1 :], ports)
        return [*above, _merge_title(gone[i], come[k]), *below]
    ports |= {(ref, row.port): f"x{row.port}" for row in gone}
    removed = [replace(row, tone=REMOVED, port=f"x{row.port}", ref="", is_final=False) for row in gone]
    return [*removed, *(replace(row, tone=ADDED) for row in come)]


def _merge_title(before: Row, after: Row) -> Row:
    """Lines that are gone stand among the others, in red."""
    matcher = SequenceMatcher(None, [e.text for e in before.entries], [e.text for e in after.entries], False)
    entries: list[Entry] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            entries += [
                replace(e, tone=REMOVED, prefix=f"− {e.prefix}", tap=None) for e in before.entries[i:j]
            ]
        entries += [e if kind == "equal" else replace(e, tone=ADDED) for e in after.entries[k:m]]
    return replace(after, entries=tuple(entries), tone=CHANGED)


def _content(row: Row) -> tuple[object, ...]:
    return (row.kind, row.tone, tuple((entry.prefix, entry.text, entry.icon) for entry in row.entries))


# --- Links and rails ----------------------------------------------------------------------------------------


def _merge_links(before: Sequence[Link], after: Sequence[Link], ports: Ports) -> tuple[Link, ...]:
    moved = [replace(link, port=ports.get((link.source, link.port), link.port)) for link in before]
    old, new = {_end(link) for link in moved}, {_end(link) for link in after}
    marked = [link if _end(link) in old else replace(link, change=ADDED) for link in after]
    gone = [replace(link, change=REMOVED, ref="") for link in moved if _end(link) not in new]
    return (*marked, *gone)


def _end(link: Link) -> tuple[str, str, str]:
    return (link.source, link.port, link.target)


def _merge_rails(before: Sequence[Rail], after: Sequence[Rail]) -> tuple[Rail, ...]:
    old = {rail.ref: rail for rail in before}
    rails = []
    for rail in after:
        former = old.get(rail.ref)
        is_same = former is not None and former.notes == rail.notes
        word = "" if is_same else ADDED if former is None else CHANGED
        rails.append(replace(rail, badge=word, change=word))
    known = {rail.ref for rail in after}
    gone = [rail for rail in before if rail.ref not in known]
    return (*rails, *(replace(rail, badge=REMOVED, change=REMOVED) for rail in gone))
