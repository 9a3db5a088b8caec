"""Who is called what in a flow, and where each name is written: for editors, and whoever else asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Span
from orchestrator.definition.source import Source


class SymbolKind(StrEnum):
    FLOW = "flow"
    STEP = "step"
    CHANNEL = "channel"
    ATTRIBUTE = "attribute"
    JOIN = "join"
    RPC = "RPC"
    TYPE = "type"
    CONDITION = "condition"
    LOCAL = "local"
    LET = "let"
    RESULT = "result"
    ELEMENT = "element"
    """The `as` name of a `for_each`."""
    HANDLER = "handler"
    MODULE = "module"
    CHOICE = "choice"
    NAME = "name"
    """Fixed in expressions, such as `input`; or one that nobody declares."""
    FIELD = "field"
    """Behind a dot of an expression, where it is none of the others."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """`scope` is the path of the step, RPC or entry that alone knows the name; empty: the whole flow."""

    kind: SymbolKind
    name: str
    scope: Path = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a symbol stands."""

    symbol: Symbol
    span: Span
    path: Path
    """Of the key or value that it stands in."""
    owner: Path = ()
    """The step, RPC or timeout handler around it."""
    role: str = ""
    """The key of the language that it stands under, such as `go_to`."""
    is_declaration: bool = False
    is_written: bool = True
    """False: the name is a default and the span is what it comes from, such as the key `timer`."""
    chain: tuple[str, ...] = ()
    """Of an expression: the names from the first one to this one."""


class SymbolTable:
    """All mentions of a document, in the order of the text."""

    def __init__(self, source: Source, document: Json, mentions: Iterable[Mention]) -> None:
        self.source = source
        self.document = document
        self.mentions = tuple(sorted(mentions, key=lambda mention: mention.span))

    def at(self, line: int, column: int) -> Mention | None:
        """The narrowest one at a place or right before it; lines and columns from 1."""
        place = (line, column)
        found = [
            mention
            for mention in self.mentions
            if (mention.span.line, mention.span.column) <= place
            and place <= (mention.span.end_line, mention.span.end_column)
        ]
        return min(found, key=_width, default=None)

    def of(self, symbol: Symbol) -> tuple[Mention, ...]:
        return self._by_symbol.get(symbol, ())

    def declaration(self, symbol: Symbol) -> Mention | None:
        return next((mention for mention in self.of(symbol) if mention.is_declaration), None)

    def declared(self, kind: SymbolKind, scope: Path = ()) -> list[str]:
        """The names of a kind, in the order of their declarations, each once."""
        found = (
            mention.symbol.name
            for mention in self.mentions
            if mention.is_declaration and mention.symbol.kind is kind and mention.symbol.scope == scope
        )
        return list(dict.fromkeys(found))

    def node(self, path: Path) -> Json:
        """What the document has at a path; None where there is nothing."""
        node = self.document
        for part in path:
            if isinstance(node, dict) and isinstance(part, str):
                node = node.get(part)
            elif isinstance(node, list) and isinstance(part, int) and part < len(node):
                node = node[part]
            else:
                return None
        return node

    @cached_property
    def _by_symbol(self) -> dict[Symbol, tuple[Mention, ...]]:
        found: dict[Symbol, list[Mention]] = {}
        for mention in self.mentions:
            found.setdefault(mention.symbol, []).append(mention)
        return {symbol: tuple(mentions) for symbol, mentions in found.items()}


def _width(mention: Mention) -> tuple[int, int, bool]:
    span = mention.span
    return span.end_line - span.line, span.end_column - span.column, not mention.is_written
