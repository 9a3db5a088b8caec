"""Where a name is declared, and where else it stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from orchestrator.definition.model import Path
from orchestrator.definition.problem import Span
from orchestrator.definition.symbols import Mention, SymbolKind
from orchestrator.lsp.document import Document
from orchestrator.lsp.flow_files import flows_beside
from orchestrator.lsp.handler_source import (
    FunctionPlace,
    find_handler,
    find_module,
    list_choices,
    search_directories,
)
from orchestrator.lsp.hover import modules_of


class Target(NamedTuple):
    file: str
    span: Span


def find_definition(
    document: Document, line: int, column: int, roots: Sequence[FilePath] = ()
) -> Target | None:
    mention = document.mention_at(line, column)
    if mention is None:
        return None
    match mention.symbol.kind:
        case SymbolKind.HANDLER:
            return _function(document, mention.symbol.name, roots)
        case SymbolKind.MODULE:
            file = find_module(mention.symbol.name, search_directories(FilePath(document.path), roots))
            return Target(str(file), Span(1, 1, 1, 1)) if file is not None else None
        case SymbolKind.CHOICE:
            directories = search_directories(FilePath(document.path), roots)
            said = list_choices(modules_of(document.table), directories).get(mention.symbol.name)
            return _target(said) if said is not None else None
        case SymbolKind.FLOW if not mention.is_declaration:
            return _flow(document, mention.symbol.name)
        case SymbolKind.NAME | SymbolKind.FIELD:
            return _fixed_name(document, mention)
        case _:
            return _declaration(document, mention)


def find_references(
    document: Document, line: int, column: int, *, has_declaration: bool = True
) -> list[Target]:
    """In the order of the text; every place once."""
    mention = document.mention_at(line, column)
    if mention is None or document.table is None:
        return []
    found = [
        moved.span
        for each in document.table.of(mention.symbol)
        if (has_declaration or not each.is_declaration) and (moved := document.moved(each)) is not None
    ]
    return [Target(document.path, span) for span in dict.fromkeys(found)]


def _declaration(document: Document, mention: Mention) -> Target | None:
    table = document.table
    declaration = table.declaration(mention.symbol) if table is not None else None
    moved = document.moved(declaration) if declaration is not None else None
    return Target(document.path, moved.span) if moved is not None else None


def _function(document: Document, name: str, roots: Sequence[FilePath]) -> Target | None:
    directories = search_directories(FilePath(document.path), roots)
    found = find_handler(name, modules_of(document.table), directories)
    return _target(found) if found is not None else None


def _target(place: FunctionPlace) -> Target:
    return Target(str(place.file), Span(place.line, place.column, place.line, place.end_column))


def _flow(document: Document, name: str) -> Target | None:
    found = flows_beside(FilePath(document.path)).get(name)
    if found is None:
        return None
    return Target(str(found.path), Span(found.line, found.column, found.line, found.column + len(name)))


def _fixed_name(document: Document, mention: Mention) -> Target | None:
    """`input` leads to the type of the input, `wait` to the wait, `attributes` to their declarations."""
    if document.table is None or not document.is_readable:
        return None
    places: dict[str, list[Path]] = {
        "input": [(*mention.owner, "input"), ("input",)],
        "wait": [(*mention.owner, "wait_for")],
        "local": [(*mention.owner, "wait_for", "local")],
        "attributes": [("attributes",)],
        "channels": [("channels",)],
        "run.input": [("input",)],
    }
    for path in places.get(".".join(mention.chain), []):
        key = document.table.source.locate(path).key
        if document.table.node(path) is not None and key is not None:
            return Target(document.path, key)
    return None
