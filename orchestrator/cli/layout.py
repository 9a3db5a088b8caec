"""Plain columns for the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from orchestrator.cli.terminal import bare


def width_of(text: str) -> int:
    """Cells on a terminal: wide characters take two."""
    cells = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        cells += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return cells


def pad(text: str, width: int) -> str:
    return text + " " * max(width - width_of(text), 0)


def cut(text: str, width: int) -> str:
    """At most `width` cells on one line, with an ellipsis where something is left out."""
    text = bare(" ".join(text.split()))
    if width_of(text) <= width:
        return text
    kept = ""
    for character in text:
        if width_of(kept + character) > width - 1:
            break
        kept += character
    return f"{kept}…"


def columns(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[list[str]]:
    """The cells padded to equal width a column; the last column is left as it is."""
    if not rows:
        return []
    widths = [max(width_of(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        [*(pad(cell, width) + gap for cell, width in zip(row[:-1], widths[:-1], strict=True)), row[-1]]
        for row in rows
    ]
