"""The text of a definition, and where in it each part of the document stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from orchestrator.definition.document import ListNode, MappingNode, Node, Scalar, construct
from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Span as Span
from orchestrator.definition.problem import split_lines


@dataclass(frozen=True, slots=True)
class Position:
    key: Span | None
    value: Span


class Source:
    """One file. `locate` answers for every key and value that the document has."""

    def __init__(self, path: str, text: str, root: Node | None = None) -> None:
        self.path = path
        self.text = text
        self._root = root

    @property
    def root(self) -> Node | None:
        """The document's tree; None where the text gives none."""
        return self._root

    @property
    def is_unreadable(self) -> bool:
        """The text gives no document."""
        return self._root is None

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(split_lines(self.text))

    def locate(self, path: Path) -> Position:
        """The position of a path; of its nearest enclosing part where the path itself is absent."""
        position, _, _ = self._find(path)
        return position

    def document(self) -> Json:
        """As plain JSON; null where the text gives none."""
        return construct(self._root, _unreported) if self._root is not None else None

    def parts(self, path: Path) -> tuple[str | int, ...]:
        """The keys of the mapping, or the indexes of the list, that stands there; empty for anything else."""
        _, node, is_exact = self._find(path)
        if is_exact and isinstance(node, MappingNode):
            return tuple(node.entries)
        return tuple(range(len(node.items))) if is_exact and isinstance(node, ListNode) else ()

    def plain_scalars(self, beginning: Collection[str]) -> Iterator[tuple[str, Span, bool]]:
        """Unquoted keys and values that begin so, as written, each where it stands; True: it is a key."""
        pending = [self._root] if self._root is not None else []
        while pending:
            node = pending.pop()
            if isinstance(node, Scalar):
                if not node.style and node.value[:1] in beginning:
                    yield node.value, node.span, False
            elif isinstance(node, ListNode):
                pending.extend(node.items)
            elif isinstance(node, MappingNode):
                for name, (key, value) in node.entries.items():
                    if name[:1] in beginning and key[2:] == (key.line, key.column + len(name)):
                        yield name, key, True
                    pending.append(value)

    def text_at(self, span: Span) -> str:
        """What stands there; line breaks as `\\n`."""
        lines = list(self.lines[span.line - 1 : span.end_line])
        if lines and span.end_line <= len(self.lines):
            lines[-1] = lines[-1][: span.end_column - 1]
        lines[:1] = [lines[0][span.column - 1 :]] if lines else []
        return "\n".join(lines)

    def locate_within(self, path: Path, offset: int, end_offset: int) -> Span:
        """The span of a piece of a text value, by offsets into the value as read (quotes, escapes undone)."""
        position, node, is_exact = self._find(path)
        if not is_exact or not isinstance(node, Scalar):
            return position.value
        places = list(self._places(node))
        if not places or offset > len(places):
            return position.value
        end_offset = max(offset, min(end_offset, len(places)))
        line, column = places[offset] if offset < len(places) else _after(places[-1])
        end_line, end_column = _after(places[end_offset - 1]) if end_offset > offset else (line, column + 1)
        return Span(line + 1, column + 1, end_line + 1, end_column + 1)

    def path_at(self, line: int, column: int) -> tuple[Path, bool] | None:
        """The innermost key or value at a place or right before it, and whether it is the key."""
        found: tuple[Path, bool] | None = None
        node, place = self._root, (line, column)
        path: Path = ()
        while node is not None:
            entry = next((each for each in _entries(node) if _covers(each, place)), None)
            if entry is None:
                return found
            part, key, node = entry
            path = (*path, part)
            if key is not None and _holds(key, place):
                return path, True
            found = path, False
        return found

    def keys_at(self, path: Path) -> tuple[str, ...]:
        """The keys of a mapping; none where there is no mapping."""
        _, node, is_exact = self._find(path)
        return tuple(node.entries) if is_exact and isinstance(node, MappingNode) else ()

    def is_in_text(self, line: int, column: int) -> bool:
        """Whether the place is inside a key or value; `#` begins no comment there."""
        return any((s.line, s.column) <= (line, column) < (s.end_line, s.end_column) for s in self._texts)

    @cached_property
    def _texts(self) -> tuple[Span, ...]:
        return tuple(_text_spans(self._root)) if self._root is not None else ()

    def _find(self, path: Path) -> tuple[Position, Node | None, bool]:
        node = self._root
        if node is None:
            return Position(None, Span(1, 1, 1, 1)), None, False
        position = Position(None, node.span)
        for part in path:
            entry = node.entry(part)
            if entry is None:
                return position, node, False
            key, node = entry
            position = Position(key, node.span)
            node = node.target
        return position, node, True

    def _places(self, node: Scalar) -> Iterator[tuple[int, int]]:
        """Line and column (from 0) of each character of a scalar's value, in order."""
        line, column = node.span.line - 1, node.span.column - 1
        quote = node.style if node.style in {"'", '"'} else None
        if node.style in {"|", ">"}:
            line, column = line + 1, 0
        elif quote:
            column += 1
        for wanted in node.value:
            if wanted.isspace() and not (quote == '"' and self._char(line, column) == "\\"):
                text = self.lines[line] if line < len(self.lines) else ""
                yield line, min(column, len(text))
                if column < len(text) and text[column].isspace():
                    column += 1
                continue
            while (found := self._char(line, column)) is not None:
                if found == wanted or (quote == '"' and found == "\\"):
                    break
                line, column = (line + 1, 0) if found == "\n" else (line, column + 1)
            if found is None:
                return
            yield line, column
            column += _source_length(self.lines[line], column, quote)

    def _char(self, line: int, column: int) -> str | None:
        if line >= len(self.lines):
            return None
        text = self.lines[line]
        return text[column] if column < len(text) else "\n"


Entry: TypeAlias = tuple[str | int, Span | None, Node]


def _entries(node: Node) -> Iterator[Entry]:
    if isinstance(node, ListNode):
        yield from ((index, None, item) for index, item in enumerate(node.items))
    elif isinstance(node, MappingNode):
        yield from ((name, key, value) for name, (key, value) in node.entries.items())


def _covers(entry: Entry, place: tuple[int, int]) -> bool:
    _, key, node = entry
    start = key or node.span
    return (start.line, start.column) <= place <= (node.span.end_line, node.span.end_column)


def _holds(span: Span, place: tuple[int, int]) -> bool:
    return (span.line, span.column) <= place <= (span.end_line, span.end_column)


def _text_spans(node: Node) -> Iterator[Span]:
    if isinstance(node, Scalar):
        span = node.span
        is_block = node.style in {"|", ">"}  # whose first line may end in a comment
        yield Span(span.line + 1, 1, span.end_line, span.end_column) if is_block else span
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _text_spans(item)
    elif isinstance(node, MappingNode):
        for key, value in node.entries.values():
            yield key
            yield from _text_spans(value)


def _unreported(code: str, message: str, span: Span, **_: object) -> None:
    """Problems of the text were reported when it was read first."""


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")


def _source_length(text: str, column: int, quote: str | None) -> int:
    """How many characters of the file one character of the value takes."""
    if quote == "'" and text[column : column + 2] == "''":
        return 2
    if quote == '"' and (escape := _ESCAPE.match(text, column)) is not None:
        return len(escape.group())
    return 1


def _after(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], place[1] + 1
