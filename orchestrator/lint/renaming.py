"""A fix that renames a step or channel wherever its definition names it."""

from __future__ import annotations

from orchestrator.definition.problem import Edit, Fix
from orchestrator.definition.source import Source


def rename(source: Source, kind: str, old: str, new: str) -> Fix | None:
    """Unsafe: handlers, clients, rehearsals and runs under way are outside. None if a place is not plain."""
    from orchestrator.definition.mentions import read_symbols

    table = read_symbols(source.text, source.path)
    if table is None:
        return None
    edits = []
    for mention in table.mentions:
        if mention.symbol.kind.value != kind or mention.symbol.name != old:
            continue
        if source.text_at(mention.span) != old:
            return None
        edits.append(Edit(mention.span, new))
    return (
        Fix(f"rename `{old}` to `{new}` everywhere in the file", tuple(edits), is_safe=False)
        if edits
        else None
    )
