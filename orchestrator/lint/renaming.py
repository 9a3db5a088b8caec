"""A fix that renames a step or channel wherever its definition names it."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.problem import Edit, Fix
from orchestrator.definition.symbols import Mention, SymbolKind, SymbolTable


def rename(table: SymbolTable, kind: SymbolKind, old: str, new: str) -> Fix | None:
    """Unsafe: handlers, clients, rehearsals and runs under way are outside. None if a place is not plain."""
    edits = []
    for mention in _mentions(table, kind, old):
        if table.source.text_at(mention.span) != mention.symbol.name:
            return None
        edits.append(Edit(mention.span, new + mention.symbol.name.removeprefix(old)))
    return (
        Fix(f"rename `{old}` to `{new}` everywhere in the file", tuple(edits), is_safe=False)
        if edits
        else None
    )


def _mentions(table: SymbolTable, kind: SymbolKind, name: str) -> Iterator[Mention]:
    """Those of the name, and of conditions that have their id from it: `name`, `name_2`."""
    places = set()
    for mention in table.mentions:
        if mention.symbol.kind is kind and mention.symbol.name == name:
            places.add(mention.span)
            yield mention
    heirs = {
        mention.symbol
        for mention in table.mentions
        if mention.symbol.kind is SymbolKind.CONDITION and not mention.is_written and mention.span in places
    }
    for mention in table.mentions:
        if mention.symbol in heirs and mention.is_written:
            yield mention
