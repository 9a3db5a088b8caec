"""Which part of the document the cursor is in, also where the text is not YAML yet.

A marker is put at the cursor, as a value and as a key; then the text is read, with ever less of the rest
around it, until YAML takes it. Where the marker shows up in the document is the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.definition.mentions import find_symbols
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.definition.parse import parse_partly, read_document
from orchestrator.definition.symbols import Mention, SymbolTable
from orchestrator.lsp.document import Document

MARK = "zzCURSORzz"
_WORD_BEFORE = re.compile(r"[\w$-]*\Z")
_WORD_AFTER = re.compile(r"[\w$-]*")
_ITEM = re.compile(r"( *)((?:- +)+)")
_BRACKETS = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class CursorPlace:
    """`path` leads to the key or value under way; `before` is what the value has before the cursor."""

    table: SymbolTable
    path: Path
    is_key: bool
    before: str
    is_whole: bool = True
    """The text around it was read, its own line mended perhaps; else only what stands before it."""

    def flow_of(self, document: Document) -> Flow | None:
        """For types: the nearest to what the author has written that can be understood."""
        if document.is_readable or not self.is_whole:
            return document.flow or self._own_flow(document.path)
        return self._own_flow(document.path) or document.flow

    def _own_flow(self, path: str) -> Flow | None:
        return parse_partly(self.table.source.text, path)

    @property
    def mention(self) -> Mention | None:
        """What the name under way would stand for."""
        found = (mention for mention in self.table.mentions if MARK in mention.symbol.name)
        return next((mention for mention in found if mention.is_written and not mention.chain), None)

    @property
    def siblings(self) -> set[str]:
        """The other keys of the mapping."""
        node = self.table.node(self.path[:-1])
        return {key for key in node if MARK not in key} if isinstance(node, dict) else set()


def find_places(text: str, offset: int) -> list[CursorPlace]:
    """What the cursor may be in: a value, a key, or both."""
    for before, head, tail, after, is_whole in _surroundings(text, offset):
        lines = [head + MARK + tail, head + MARK + ": " + tail]
        has_colon = re.match(r"\s*:(\s|$)", tail) is not None
        if has_colon or (not head.rsplit(":", 1)[-1].isspace() and _inside_value(head)):
            lines = lines[:1]
        texts = [before + line + after for line in lines]
        places = [place for each in texts if (place := _read(each, is_whole=is_whole)) is not None]
        if places:
            return places
    return []


def word_bounds(text: str, offset: int) -> tuple[int, int]:
    """Of the word that the cursor is in or behind."""
    before, after = _WORD_BEFORE.search(text, 0, offset), _WORD_AFTER.match(text, offset)
    assert before is not None and after is not None
    return before.start(), after.end()


def _inside_value(head: str) -> bool:
    """The line so far has a value under way that is more than one word."""
    return bool(re.match(r"\s*(- +)*[\w$-]+:\s+\S", head)) and "{" not in head and "[" not in head


def _surroundings(text: str, offset: int) -> Iterator[tuple[str, str, str, str, bool]]:
    """Text before the cursor's line, the line before and after the cursor, the text after it; is it whole?"""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    before, head, tail, after = text[:start], text[start:offset], text[offset:end], text[end:]
    yield before, head, tail, after, True
    closed = _closing(head)
    if closed != tail:
        yield before, head, closed, after, True
    yield before, head, closed, "", False
    yield _ancestors(before, head), head, closed, "", False


def _closing(head: str) -> str:
    """What closes the quotes and brackets that the line has opened."""
    opened: list[str] = []
    quote = ""
    for index, character in enumerate(head):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and re.search(r"[\s\[{,:]$", head[:index] or " "):
            quote = character
        elif character in _BRACKETS and (character == "[" or head[index - 1 : index] != "$"):
            opened.append(_BRACKETS[character])
        elif opened and character == opened[-1]:
            opened.pop()
    hole = "}" if quote and head.rfind("${") > head.rfind("}") else ""
    return hole + quote + "".join(reversed(opened))


def _ancestors(before: str, head: str) -> str:
    """Only the lines that the cursor's line is inside of."""
    indent = _content_column(head) if head.strip() else len(head)
    kept: list[str] = []
    item = _ITEM.match(head)
    indent, has_item = (len(item[1]), True) if item else (indent, False)
    for line in reversed(before.splitlines()):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        dash = _ITEM.match(line)
        outer, inner = (len(dash[1]), _content_column(line)) if dash else (_content_column(line),) * 2
        is_parent_of_item = has_item and not dash and outer == indent and stripped.endswith(":")
        if not (outer < indent or is_parent_of_item):
            continue
        if dash and inner >= indent:
            line = f"{dash[0]}x-before: 0"
        kept.append(line)
        indent, has_item = outer, dash is not None
        if indent == 0 and not has_item:
            break
    return "".join(f"{line}\n" for line in reversed(kept))


def _content_column(line: str) -> int:
    item = _ITEM.match(line)
    return item.end() if item else len(line) - len(line.lstrip(" "))


def _read(text: str, *, is_whole: bool) -> CursorPlace | None:
    source, document, _ = read_document(text, "")
    found = None if source.is_unreadable else _find(document, ())
    if found is None:
        return None
    path, is_key, value = found
    before = value[: value.index(MARK)]
    return CursorPlace(find_symbols(source, document), path, is_key, before, is_whole)


def _find(node: Json, path: Path) -> tuple[Path, bool, str] | None:
    if isinstance(node, dict):
        for key, value in node.items():
            if MARK in key:
                return (*path, key), True, key
            if (found := _find(value, (*path, key))) is not None:
                return found
    elif isinstance(node, list):
        for index, item in enumerate(node):
            if (found := _find(item, (*path, index))) is not None:
                return found
    elif isinstance(node, str) and MARK in node:
        return path, False, node
    return None
