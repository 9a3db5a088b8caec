"""A text with the cursor in it, written `¦`."""

from __future__ import annotations

from typing import NamedTuple

CURSOR = "¦"


class Marked(NamedTuple):
    """The text without the mark; line and column count from 1."""

    text: str
    line: int
    column: int
    offset: int


def marked(text: str) -> Marked:
    offset = text.index(CURSOR)
    before = text[:offset]
    text = before + text[offset + 1 :]
    assert CURSOR not in text
    return Marked(text, before.count("\n") + 1, offset - before.rfind("\n"), offset)
