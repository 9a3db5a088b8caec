"""The parts of a flow, as a tree for the editor's outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.definition.model import Json, Path
from orchestrator.definition.problem import Span
from orchestrator.definition.symbols import SymbolTable
from orchestrator.lsp.document import Document
from orchestrator.lsp.symbol_text import condition_text, plain, type_words

_SECTIONS = {
    "types": "type",
    "attributes": "attribute",
    "channels": "channel",
    "joins": "join",
    "steps": "step",
    "rpcs": "rpc",
}
_METHODS = ("wait_for", "execute", "decide")


@dataclass(frozen=True)
class OutlineItem:
    """`span` is all of it, `name_span` its name."""

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    children: tuple[OutlineItem, ...] = ()


def outline_of(document: Document) -> list[OutlineItem]:
    """Empty while the text is not YAML: the editor keeps what it had."""
    table = document.table
    if table is None or not document.is_readable or not isinstance(table.document, dict):
        return []
    return list(_sections(table))


def _sections(table: SymbolTable) -> Iterator[OutlineItem]:
    for key, node in table.document.items():
        path: Path = (key,)
        if key in _SECTIONS and isinstance(node, dict):
            children = tuple(_entries(table, path, node, _SECTIONS[key]))
            yield _item(table, path, key, "section", f"{len(children)}", children)
        elif key == "on_timeout":
            yield _item(table, path, key, "step", "", tuple(_body(table, path, node)))
        elif key in ("flow", "start", "input", "output", "timeout"):
            yield _item(table, path, key, "property", type_words(plain(node)))


def _entries(table: SymbolTable, path: Path, node: dict[str, Json], kind: str) -> Iterator[OutlineItem]:
    for name, below in node.items():
        at = (*path, name)
        detail = ""
        children: tuple[OutlineItem, ...] = ()
        if kind in ("step", "rpc"):
            children = tuple(_body(table, at, below))
        elif kind != "type":
            declared = below.get("type") if isinstance(below, dict) else below
            detail = type_words(declared) if declared is not None else ""
        yield _item(table, at, name, kind, detail, children)


def _body(table: SymbolTable, path: Path, node: Json) -> Iterator[OutlineItem]:
    for key in node if isinstance(node, dict) else ():
        if key in _METHODS:
            yield _item(table, (*path, key), key, "method", _method_text(key, node[key]))


def _method_text(key: str, node: Json) -> str:
    if key == "execute":
        return str(node.get("handler", "") if isinstance(node, dict) else node)
    if key == "decide":
        return f"{len(node)} decisions" if isinstance(node, list) else ""
    until = node.get("until") if isinstance(node, dict) else None
    if isinstance(until, dict):
        return condition_text(until).replace("`", "")
    combinators = ("any_of", "all_of", "any_combination_of", "handler")
    return next((each for each in combinators if isinstance(node, dict) and each in node), "")


def _item(
    table: SymbolTable,
    path: Path,
    name: str,
    kind: str,
    detail: str,
    children: tuple[OutlineItem, ...] = (),
) -> OutlineItem:
    position = table.source.locate(path)
    name_span = position.key or position.value
    end = max(
        (name_span.end_line, name_span.end_column), (position.value.end_line, position.value.end_column)
    )
    return OutlineItem(name, kind, detail, Span(name_span.line, name_span.column, *end), name_span, children)
