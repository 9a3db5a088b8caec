"""What may be written at the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from orchestrator.definition.keys import OUTCOMES
from orchestrator.definition.model import Json, Path
from orchestrator.definition.symbols import Mention, SymbolKind, SymbolTable
from orchestrator.definition.type_text import PLAIN, compact
from orchestrator.lsp.cursor_place import MARK, CursorPlace, find_places, word_bounds
from orchestrator.lsp.data_places import description_of, kind_at, members_at, words_of
from orchestrator.lsp.document import Document
from orchestrator.lsp.expression_completion import propose_in_expression
from orchestrator.lsp.expression_scope import type_text
from orchestrator.lsp.expression_text import open_expression
from orchestrator.lsp.flow_files import flows_beside
from orchestrator.lsp.handler_source import list_choices, list_functions, search_directories
from orchestrator.lsp.hover import modules_of
from orchestrator.lsp.json_schema_words import is_json_schema, json_schema_keywords, json_schema_words
from orchestrator.lsp.proposal import Proposal
from orchestrator.lsp.schema_places import describe_place, examples_at, keys_at, values_at
from orchestrator.lsp.symbol_text import describe_symbol

_LOCAL_KINDS = (SymbolKind.CONDITION, SymbolKind.CHOICE, SymbolKind.LOCAL)


@dataclass(frozen=True)
class Completion:
    """`start` and `end` are offsets of the text that a proposal replaces."""

    start: int
    end: int
    proposals: tuple[Proposal, ...]


def complete_at(document: Document, offset: int, roots: Sequence[FilePath] = ()) -> Completion:
    text = document.text
    found: dict[str, Proposal] = {}
    for place in find_places(text, offset):
        for proposal in _propose(document, place, roots):
            found.setdefault(proposal.label, proposal)
    start, end = word_bounds(text, offset)
    has_colon = text[end : end + 1] == ":"
    proposals = [proposal.before_colon() if has_colon else proposal for proposal in found.values()]
    return Completion(start, end, tuple(proposals))


def _propose(document: Document, place: CursorPlace, roots: Sequence[FilePath]) -> Iterator[Proposal]:
    is_guard = place.path[-1:] == ("when",)
    expression = open_expression(place.before, is_guard=is_guard)
    if expression is not None:
        yield from propose_in_expression(document, place, expression)
        return
    mention = place.mention
    if mention is not None and not mention.is_declaration and not _is_odd(place, mention):
        yield from _propose_names(document, place, mention, roots)
    if mention is not None and mention.symbol.kind is SymbolKind.TYPE:
        return
    if place.is_key:
        yield from _propose_keys(place)
    else:
        yield from _propose_values(place)
    yield from _propose_data(document, place)


def _is_odd(place: CursorPlace, mention: Mention) -> bool:
    """A bare name where a mapping is asked; a mapping in a list of names, unless they may be maps."""
    if not place.is_key:
        return place.path[-1:] in (("set",), ("publish",), ("report",))
    is_in_list = place.is_key and len(place.path) > 1 and isinstance(place.path[-2], int)
    return is_in_list and mention.symbol.kind is not SymbolKind.ATTRIBUTE


def _propose_keys(place: CursorPlace) -> Iterator[Proposal]:
    document, parent = place.table.document, place.path[:-1]
    taken = place.siblings
    if is_json_schema(parent):
        for keyword in json_schema_keywords(parent):
            if keyword not in taken:
                yield Proposal(keyword, "key", detail="JSON Schema", text=f"{keyword}: ")
    for key, schema in keys_at(document, parent).items():
        if key in taken:
            continue
        is_outcome = key in OUTCOMES
        yield Proposal(
            key,
            "outcome" if is_outcome else "key",
            detail=str(schema.get("title", "")),
            description=describe_place(document, (*parent, key)) or str(schema.get("description", "")),
            text=f"{key}: true" if schema.get("const") is True else f"{key}: ",
        )


def _propose_values(place: CursorPlace) -> Iterator[Proposal]:
    document = place.table.document
    if is_json_schema(place.path):
        words = json_schema_words(place.path, place.table.declared(SymbolKind.TYPE))
        yield from (Proposal(word, "value", detail="JSON Schema") for word in words)
    for value in values_at(document, place.path):
        if not isinstance(value, dict | list):
            yield Proposal(_spelt(value), "value")
    for example in examples_at(document, place.path):
        if isinstance(example, str | int | float) and "${" not in str(example):
            yield Proposal(_spelt(example), "value", detail="for example")


def _propose_data(document: Document, place: CursorPlace) -> Iterator[Proposal]:
    """Members and words of the author's own types."""
    flow, table = place.flow_of(document), place.table
    if flow is None:
        return
    if not place.is_key:
        kind = kind_at(flow, table, place.path)
        yield from (Proposal(_spelt(word), "value") for word in (words_of(kind) if kind is not None else ()))
        return
    for name, kind in members_at(flow, table, place.path[:-1]).items():
        if name not in place.siblings:
            yield Proposal(
                name, "field", detail=type_text(kind), description=description_of(kind), text=f"{name}: "
            )


# --- Names -------------------------------------------------------------------------------------------------


def _propose_names(
    document: Document, place: CursorPlace, mention: Mention, roots: Sequence[FilePath]
) -> Iterator[Proposal]:
    kind = mention.symbol.kind
    if kind is SymbolKind.HANDLER:
        yield from _propose_handlers(document, roots)
    elif kind is SymbolKind.CHOICE:
        directories = search_directories(FilePath(document.path), roots)
        words = list_choices(modules_of(document.table), directories)
        yield from (Proposal(word, "value", detail="said by a handler") for word in words)
    elif kind is SymbolKind.TYPE:
        yield from _propose_types(document, place)
    elif kind is SymbolKind.FLOW:
        yield from (Proposal(name, "flow") for name in flows_beside(FilePath(document.path)))
    else:
        taken = place.siblings if place.is_key else _listed(place)
        for table, scope in _tables(document, place, mention):
            for name in table.declared(kind, scope):
                if MARK not in name and name not in taken:
                    taken = {*taken, name}
                    yield _named(table, kind, name, scope, place)


def _tables(document: Document, place: CursorPlace, mention: Mention) -> Iterator[tuple[SymbolTable, Path]]:
    """The text with the cursor may have lost declarations that the last good one had."""
    scope = mention.owner if mention.symbol.kind in _LOCAL_KINDS else ()
    yield place.table, scope
    if document.table is not None:
        yield document.table, scope


def _named(table: SymbolTable, kind: SymbolKind, name: str, scope: Path, place: CursorPlace) -> Proposal:
    symbol = next(
        mention.symbol
        for mention in table.mentions
        if mention.symbol.kind is kind and mention.symbol.name == name and mention.symbol.scope == scope
    )
    text = f"{name}: " if place.is_key else name
    return Proposal(
        name, kind.value, detail=kind.value, description=describe_symbol(table, symbol), text=text
    )


def _listed(place: CursorPlace) -> set[str]:
    """What a list of names has already."""
    node = place.table.node(place.path[:-1])
    return {item for item in node if isinstance(item, str)} if isinstance(node, list) else set()


def _propose_types(document: Document, place: CursorPlace) -> Iterator[Proposal]:
    words = place.before.split()
    if place.before.endswith(" ") and words and words[-1] not in ("of", "or", "list"):
        yield Proposal("or", "value")
        return
    for table in (place.table, document.table):
        for name in table.declared(SymbolKind.TYPE) if table is not None else ():
            if MARK not in name:
                yield Proposal(name, "type", detail="type")
    yield from (Proposal(name, "value", detail="type") for name in PLAIN)
    if not words or words[-1] in ("of", "or") or not place.before.endswith(" "):
        yield Proposal("list of", "value", detail="type", text="list of ")


def _propose_handlers(document: Document, roots: Sequence[FilePath]) -> Iterator[Proposal]:
    directories = search_directories(FilePath(document.path), roots)
    for name, place in list_functions(modules_of(document.table), directories):
        yield Proposal(name, "handler", detail=place.signature, description=place.description)


def _spelt(value: Json) -> str:
    return value if isinstance(value, str) else compact(value)
