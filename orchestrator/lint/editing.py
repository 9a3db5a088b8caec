"""Edits of a definition's text by path: an entry taken out, an entry added. Comments and layout stay."""

from __future__ import annotations

import re

from orchestrator.definition.model import Path
from orchestrator.definition.problem import Edit, Span
from orchestrator.definition.source import Source

_ANCHOR = re.compile(r"(?:^|(?<=[\s\[{,:-]))&(\w+)", re.MULTILINE)


def removal(source: Source, path: Path) -> Edit | None:
    """Takes the entry of a mapping or list out; its mapping or list as well where nothing else is in it.

    None where the text does not allow it simply: behind an alias, with an anchor that an alias needs, or on a
    line that something else shares.
    """
    parent = path[:-1]
    parts = source.parts(parent)
    if not path or path[-1] not in parts:
        return None
    if len(parts) == 1:
        return removal(source, parent) if parent else None
    around, own = source.locate(parent).value, entry_span(source, path)
    if not _is_within(own, around) or _is_aliased(source, own):
        return None
    index = parts.index(path[-1])
    before = entry_span(source, (*parent, parts[index - 1])) if index > 0 else None
    after = entry_span(source, (*parent, parts[index + 1])) if index + 1 < len(parts) else None
    if is_flow_style(source, parent):
        return _removal_from_flow(around, own, before, after)
    return _removal_from_block(source, own, after, is_item=isinstance(path[-1], int))


def added_item(source: Source, path: Path, flow_text: str) -> Edit | None:
    """Adds a last item, written in flow style, to the list at `path`; None behind an alias."""
    parts = source.parts(path)
    if not parts:
        return None
    around, last = source.locate(path).value, entry_span(source, (*path, parts[-1]))
    if not _is_within(last, around):
        return None
    if is_flow_style(source, path):
        return Edit(Span(last.end_line, last.end_column, last.end_line, last.end_column), f", {flow_text}")
    end = len(source.lines[last.end_line - 1]) + 1
    indentation = source.lines[last.line - 1][: last.column - 1].rstrip()
    if indentation.strip() != "-":
        return None
    return Edit(Span(last.end_line, end, last.end_line, end), f"\n{indentation} {flow_text}")


def entry_span(source: Source, path: Path) -> Span:
    """From the key, where there is one, to the end of the value."""
    place = source.locate(path)
    if place.key is None:
        return place.value
    end = max((place.key.end_line, place.key.end_column), (place.value.end_line, place.value.end_column))
    return Span(place.key.line, place.key.column, *end)


def is_flow_style(source: Source, path: Path) -> bool:
    """`{…}` or `[…]`."""
    span = source.locate(path).value
    return source.lines[span.line - 1][span.column - 1 : span.column] in ("{", "[")


def _removal_from_flow(around: Span, own: Span, before: Span | None, after: Span | None) -> Edit | None:
    if after is not None:
        return Edit(Span(own.line, own.column, after.line, after.column), "")
    if before is None:
        return None
    return Edit(Span(before.end_line, before.end_column, around.end_line, around.end_column - 1), "")


def _removal_from_block(source: Source, own: Span, after: Span | None, *, is_item: bool) -> Edit | None:
    """Whole lines; of the first key behind a dash, so much that the next key moves up."""
    head = source.lines[own.line - 1][: own.column - 1].strip()
    if head == ("-" if is_item else ""):
        return Edit(Span(own.line, 1, own.end_line + 1, 1), "")
    if head == "-" and after is not None:
        return Edit(Span(own.line, own.column, after.line, after.column), "")
    return None


def _is_aliased(source: Source, span: Span) -> bool:
    """An anchor in it may be used elsewhere."""
    names = _ANCHOR.findall(source.text_at(span))
    return any(re.search(rf"\*{re.escape(name)}(?!\w)", source.text) for name in names)


def _is_within(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        inner.end_line,
        inner.end_column,
    ) <= (
        outer.end_line,
        outer.end_column,
    )
