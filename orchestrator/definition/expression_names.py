"""The names that the text of an expression mentions, and where: `wait.answer.message` is a chain of three."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.definition import cel
from orchestrator.definition.cel_tree import Call, Const, Fold, Ident, Node, Select, children

_INDEXING = ("_[_]", "_[?_]")
_OPTIONAL_SELECT = "_?._"


class Link(NamedTuple):
    """One name; offsets in characters of the expression's text."""

    name: str
    start: int
    end: int


def find_chains(text: str) -> list[tuple[Link, ...]]:
    """The longest chains; variables of macros begin none. An expression with mistakes has none."""
    try:
        return list(_visit(cel.parse(text), text, frozenset()))
    except (cel.SyntaxProblem, RecursionError):
        return []


def _visit(node: Node, text: str, variables: frozenset[str]) -> Iterator[tuple[Link, ...]]:
    chain = _chain(node, text)
    if chain is not None:
        if chain[0].name not in variables:
            yield chain
        return
    if isinstance(node, Fold):
        inner = variables | {node.variable, node.accumulator}
        for part in (node.over, node.start):
            yield from _visit(part, text, variables)
        for part in (node.condition, node.step, node.result):
            yield from _visit(part, text, inner)
        return
    for part in children(node):
        yield from _visit(part, text, variables)


def _chain(node: Node, text: str) -> tuple[Link, ...] | None:
    match node:
        case Ident(at=at, name=name):
            return (Link(name, at, at + len(name)),) if text.startswith(name, at) else None
        case Select(operand=operand, field=name):
            return _extended(operand, name, text, rf"\s*\.\s*({re.escape(name)})\b")
        case Call(function=function, args=[operand, Const(value=str(name))]):
            if function == _OPTIONAL_SELECT:
                return _extended(operand, name, text, rf"\s*\.\s*\?\s*({re.escape(name)})\b")
            if function in _INDEXING:
                return _extended(operand, name, text, rf"\s*\[\s*\??\s*['\"]({re.escape(name)})['\"]\s*\]")
    return None


def _extended(operand: Node, name: str, text: str, pattern: str) -> tuple[Link, ...] | None:
    chain = _chain(operand, text)
    if chain is None:
        return None
    found = re.compile(pattern).match(text, _end(chain[-1], text))
    return (*chain, Link(name, *found.span(1))) if found is not None else None


def _end(link: Link, text: str) -> int:
    """Behind the link, and behind the quote and bracket that an index has."""
    closing = re.compile(r"['\"]\s*\]").match(text, link.end)
    return closing.end() if closing is not None else link.end
