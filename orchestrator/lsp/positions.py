"""Lines and columns of a file as the editor counts them, and as we do.

We count characters from 1 and break lines as YAML does; the protocol counts code units from 0 and knows
fewer line breaks. Offsets into the text are the common ground.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from orchestrator.definition.problem import Span, line_starts

_EDITOR_BREAK = re.compile("\r\n|[\n\r]")


@dataclass(frozen=True)
class Positions:
    text: str
    encoding: str = "utf-16"

    def to_editor(self, line: int, column: int) -> tuple[int, int]:
        """Line and code unit from 0."""
        offset = self.offset(line, column)
        number = bisect_right(self._editor_starts, offset) - 1
        return number, self._unit_count(self.text[self._editor_starts[number] : offset])

    def from_editor(self, line: int, unit: int) -> tuple[int, int]:
        """Line and column from 1; a place past the end is the end."""
        return self.place(self.editor_offset(line, unit))

    def range_of(self, span: Span) -> tuple[tuple[int, int], tuple[int, int]]:
        start = self.to_editor(span.line, span.column)
        return start, max(start, self.to_editor(span.end_line, span.end_column))

    def offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return len(self.text)
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return min(self._starts[line - 1] + column - 1, end)

    def place(self, offset: int) -> tuple[int, int]:
        number = bisect_right(self._starts, offset)
        return number, offset - self._starts[number - 1] + 1

    def editor_offset(self, line: int, unit: int) -> int:
        if line >= len(self._editor_starts):
            return len(self.text)
        start = self._editor_starts[line]
        found = _EDITOR_BREAK.search(self.text, start)
        content = self.text[start : found.start() if found else len(self.text)]
        if self.encoding == "utf-32":
            return start + min(unit, len(content))
        count = 0
        for index, character in enumerate(content):
            if count >= unit:
                return start + index
            count += self._unit_count(character)
        return start + len(content)

    def _unit_count(self, text: str) -> int:
        if self.encoding == "utf-32":
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(ord(character) > 0xFFFF for character in text)

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    @cached_property
    def _editor_starts(self) -> list[int]:
        return [0, *(found.end() for found in _EDITOR_BREAK.finditer(self.text))]
