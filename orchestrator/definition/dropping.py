"""Takes a repeated entry out of a mapping's text."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.definition.problem import Edit, Fix, Span


def drop_entry(lines: Sequence[str], key: Span, value: Span) -> Fix | None:
    """The whole lines of an entry of its own, or an entry between commas; None: it is no such thing.

    Unsafe: it may be the first of the two that is wrong.
    """
    before = lines[key.line - 1][: key.column - 1].rstrip()
    behind = lines[value.end_line - 1][value.end_column - 1 :].strip()
    taken = [*lines[key.line - 1 : value.end_line - 1], lines[value.end_line - 1][: value.end_column - 1]]
    if any("&" in line for line in taken):
        return None
    if not before and (not behind or behind.startswith("#")):
        span = Span(key.line, 1, value.end_line + 1, 1)
    elif before.endswith(",") and behind[:1] in (",", "}", "#", ""):
        span = Span(key.line, len(before), value.end_line, value.end_column)
    else:
        return None
    return Fix("remove the later of the two", (Edit(span, ""),), is_safe=False)
