"""Finds every name of a flow's document. Works on the document, so a flow with problems has its names too.

The keys and shapes are those of `keys.py`; only what a name under a key stands for is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.definition import template
from orchestrator.definition.expression_names import find_chains
from orchestrator.definition.keys import (
    CONDITION_KINDS,
    DATA,
    EFFECTS,
    KEYS,
    SCHEMA,
    Named,
    Shape,
)
from orchestrator.definition.model import Json, Path
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Span
from orchestrator.definition.source import Source
from orchestrator.definition.symbols import Mention, Symbol, SymbolKind, SymbolTable
from orchestrator.definition.type_text import PLAIN, REFERENCE

_K = SymbolKind
_DECISIONS = ("decision", "rpc_decision", "otherwise", "rpc_otherwise", "step", "on_timeout", "rpc")
_NAMES: dict[tuple[str, str], SymbolKind] = {
    ("flow", "start"): _K.STEP,
    ("flow", "handlers"): _K.MODULE,
    ("execute", "handler"): _K.HANDLER,
    ("wait_for", "handler"): _K.HANDLER,
    ("rpc", "handler"): _K.HANDLER,
    ("wait_for", "any_combination_of"): _K.CONDITION,
    ("target", "step"): _K.STEP,
    ("movement", "step"): _K.STEP,
    ("route", "step"): _K.STEP,
    ("never", "step"): _K.STEP,
    ("never", "with"): _K.STEP,
    ("property", "mutual_exclusion"): _K.STEP,
    ("property", "conserved"): _K.CHANNEL,
    ("completion", "channels"): _K.CHANNEL,
    ("set", "attribute"): _K.ATTRIBUTE,
    ("publish", "channel"): _K.CHANNEL,
    ("channel condition", "channel"): _K.CHANNEL,
    ("join condition", "join"): _K.JOIN,
    ("subflow condition", "subflow"): _K.FLOW,
    ("may", "publish"): _K.CHANNEL,
    ("may", "set"): _K.ATTRIBUTE,
    ("may", "cancel"): _K.STEP,
    **{
        (kind, key): target
        for kind in _DECISIONS
        for key, target in {
            "cancel": _K.STEP,
            "cancel_siblings": _K.STEP,
            "cancel_round": _K.JOIN,
            "join": _K.JOIN,
            "report": _K.JOIN,
            "choice": _K.CHOICE,
        }.items()
        if key in KEYS[kind]
    },
    **{
        (kind, "locks"): _K.ATTRIBUTE
        for kind in ("execute", "wait_for", "rpc", "wait_options", "execute_options")
    },
}
"""A name, a list of names, or a mapping with names for keys."""
_SHORT_FORMS = {"target": _K.STEP, "movement": _K.STEP, "route": _K.STEP, "execute": _K.HANDLER}
_DECLARED = {
    "types": _K.TYPE,
    "attributes": _K.ATTRIBUTE,
    "channels": _K.CHANNEL,
    "joins": _K.JOIN,
    "steps": _K.STEP,
    "rpcs": _K.RPC,
    "let": _K.LET,
    "conditions": _K.CONDITION,
}
_LOCAL_KINDS = (_K.LET, _K.CONDITION, _K.LOCAL, _K.CHOICE)
_BODIES = ("step", "rpc", "on_timeout")
_DOTTED = {"attributes": _K.ATTRIBUTE, "channels": _K.CHANNEL, "wait": _K.CONDITION, "local": _K.LOCAL}
_TYPE_WORD = re.compile(r"\w+")


def read_symbols(text: str, path: str) -> SymbolTable | None:
    """None where the text is not YAML."""
    source, document, _ = read_document(text, path)
    return None if source.is_unreadable else find_symbols(source, document)


def find_symbols(source: Source, document: Json) -> SymbolTable:
    walk = _Walk(source)
    walk.shape(document, (), "flow", _Place())
    return SymbolTable(source, document, dict.fromkeys(walk.mentions))


@dataclass(frozen=True)
class _Place:
    owner: Path = ()
    role: str = ""
    names: Mapping[str, Symbol] = field(default_factory=dict)
    """What expressions know beside the fixed names."""

    def under(self, role: str) -> _Place:
        return replace(self, role=role)


class _Walk:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.mentions: list[Mention] = []

    # --- The grammar

    def shape(self, node: Json, path: Path, shape: Shape, place: _Place) -> None:
        if isinstance(shape, Named):
            self._named(node, path, shape, place)
        elif shape is SCHEMA:
            self._schema(node, path, place)
        elif shape is EFFECTS:
            self._effects(node, path, place)
        elif shape is DATA:
            self._data(node, path, place)
        elif isinstance(shape, str):
            self._parts(node, path, shape, place)

    def _parts(self, node: Json, path: Path, kind: str, place: _Place) -> None:
        if isinstance(node, list):
            for index, item in enumerate(node):
                self._parts(item, (*path, index), kind, place)
        elif isinstance(node, dict):
            self._mapping(node, path, kind, place)
        elif kind in _SHORT_FORMS:
            self._name(node, path, _SHORT_FORMS[kind], place)
        elif kind in ("attribute", "channel", "join"):
            self._schema(node, path, place)

    def _mapping(self, node: dict[str, Json], path: Path, kind: str, place: _Place) -> None:
        if kind in _BODIES:
            place = self._enter_body(node, path)
        elif kind == "condition":
            kind = next((f"{key} condition" for key in CONDITION_KINDS if key in node), kind)
        elif kind == "wait_for":
            self._declare_conditions(node, path, place)
        if kind == "flow":
            self._name(node.get("flow"), (*path, "flow"), _K.FLOW, place, is_declaration=True)
        inner = self._with_element(node, path, place) if "for_each" in node and "as" in KEYS[kind] else place
        for key, value in node.items():
            if key in KEYS[kind]:
                self._entry(kind, key, value, (*path, key), place if key == "for_each" else inner)

    def _entry(self, kind: str, key: str, value: Json, path: Path, place: _Place) -> None:
        shape = KEYS[kind][key]
        is_inner = (kind, key) in _INNER
        named = _NAMES.get((kind, key))
        if named is not None:
            self._names(value, path, named, place if is_inner else place.under(key))
        elif key == "loads":
            self._loads(value, path, place.under(key))
        elif key == "when":
            self._expression(str(value), path, place) if isinstance(value, str) else None
        elif (kind, key) == ("wait_for", "local"):
            self._declare_keys(value, path, _K.LOCAL, place)
            self._data(value, path, place)
        elif (kind, key) == ("verify", "external"):
            self._external(value, path, place.under(key))
        elif (kind, key) not in (("flow", "flow"), ("result", "name")) and key not in ("as", "id"):
            self.shape(value, path, shape, place.under(key) if key != "options" else place)

    def _named(self, node: Json, path: Path, shape: Named, place: _Place) -> None:
        kind = _DECLARED.get(str(path[-1]))
        if kind is not None:
            self._declare_keys(node, path, kind, place)
        if isinstance(node, dict):
            for name, value in node.items():
                if not name.startswith("x-"):
                    self.shape(value, (*path, name), shape.of, place)

    def _effects(self, node: Json, path: Path, place: _Place) -> None:
        key = str(path[-1])
        if isinstance(node, list):
            self._parts(node, path, key, place)
        else:
            self._names(node, path, _K.ATTRIBUTE if key == "set" else _K.CHANNEL, place)

    # --- Bodies and what they declare

    def _enter_body(self, node: dict[str, Json], path: Path) -> _Place:
        place = _Place(owner=path)
        names: dict[str, Symbol] = {}
        result, lets = node.get("result"), node.get("let")
        has_handler = "execute" in node or "handler" in node
        written = result.get("name") if isinstance(result, dict) else result
        if isinstance(written, str):
            at: Path = (*path, "result", "name") if isinstance(result, dict) else (*path, "result")
            names[written] = Symbol(_K.RESULT, written, path)
            self._add(names[written], self._value_span(at, 0, len(written)), at, place, is_declaration=True)
        elif has_handler:
            key = "result" if "result" in node else "execute" if "execute" in node else "handler"
            names["result"] = Symbol(_K.RESULT, "result", path)
            self._declare_silently(names["result"], (*path, key), place)
        if isinstance(lets, dict):
            names.update({name: Symbol(_K.LET, name, path) for name in lets})
        return replace(place, names=names)

    def _with_element(self, node: dict[str, Json], path: Path, place: _Place) -> _Place:
        name = node.get("as", "item")
        if not isinstance(name, str):
            return place
        symbol = Symbol(_K.ELEMENT, name, path)
        at = (*path, "as")
        if "as" in node:
            self._add(symbol, self._value_span(at, 0, len(name)), at, place, is_declaration=True)
        else:
            self._declare_silently(symbol, (*path, "for_each"), place)
        return replace(place, names={**place.names, name: symbol})

    def _declare_conditions(self, node: dict[str, Json], path: Path, place: _Place) -> None:
        for at, condition, id, is_default in name_conditions(node, path):
            symbol = Symbol(_K.CONDITION, id, place.owner)
            if not is_default:
                at = (*at, "id")
                self._add(symbol, self._value_span(at, 0, len(id)), at, place, is_declaration=True)
                continue
            key = next((key for key in CONDITION_KINDS if key in condition), None)
            if key is not None and isinstance(condition[key], str) and key not in ("timer", "timer_at"):
                span = self._value_span((*at, key), 0, len(condition[key]))
                self._add(symbol, span, (*at, key), place, is_declaration=True, is_written=False)
            elif key is not None:
                self._declare_silently(symbol, (*at, key), place)

    def _declare_silently(self, symbol: Symbol, path: Path, place: _Place) -> None:
        """At the key that the default name comes from."""
        span = self._source.locate(path).key
        if span is not None:
            self._add(symbol, span, path, place, is_declaration=True, is_written=False)

    def _declare_keys(self, node: Json, path: Path, kind: SymbolKind, place: _Place) -> None:
        if isinstance(node, dict):
            for name in node:
                if not name.startswith("x-"):
                    self._key(name, (*path, name), kind, place, is_declaration=True)

    # --- Names

    def _names(self, node: Json, path: Path, kind: SymbolKind, place: _Place) -> None:
        if isinstance(node, list):
            for index, item in enumerate(node):
                self._names(item, (*path, index), kind, place)
        elif isinstance(node, dict):
            for name, value in node.items():
                if not name.startswith("x-"):
                    self._key(name, (*path, name), kind, place)
                    self._data(value, (*path, name), place)
        else:
            self._name(node, path, kind, place)

    def _loads(self, node: Json, path: Path, place: _Place) -> None:
        for index, item in enumerate(node if isinstance(node, list) else ()):
            at = (*path, index)
            if isinstance(item, dict) and "channel" in item:
                self._name(item["channel"], (*at, "channel"), _K.CHANNEL, place)
                self._data(item.get("key"), (*at, "key"), place)
            else:
                self._names(item, at, _K.ATTRIBUTE, place)

    def _external(self, node: Json, path: Path, place: _Place) -> None:
        rpcs = self._source.keys_at(("rpcs",))
        for name in node if isinstance(node, dict) else ():
            self._key(name, (*path, name), _K.RPC if name in rpcs else _K.CHANNEL, place)

    def _name(
        self, node: Json, path: Path, kind: SymbolKind, place: _Place, *, is_declaration: bool = False
    ) -> None:
        if isinstance(node, str):
            span = self._value_span(path, 0, len(node))
            self._add(self._symbol(kind, node, place), span, path, place, is_declaration=is_declaration)

    def _key(
        self, name: str, path: Path, kind: SymbolKind, place: _Place, *, is_declaration: bool = False
    ) -> None:
        span = self._source.locate(path).key
        if span is None:
            return
        if self._source.text_at(span)[:1] in ("'", '"'):
            span = Span(span.line, span.column + 1, span.end_line, span.end_column - 1)
        self._add(self._symbol(kind, name, place), span, path, place, is_declaration=is_declaration)

    def _symbol(self, kind: SymbolKind, name: str, place: _Place) -> Symbol:
        return Symbol(kind, name, place.owner if kind in _LOCAL_KINDS else ())

    def _value_span(self, path: Path, start: int, end: int) -> Span:
        return self._source.locate_within(path, start, end)

    def _add(self, symbol: Symbol, span: Span, path: Path, place: _Place, **more: Any) -> None:
        if more.get("is_written", True) and self._source.text_at(span) != symbol.name:
            more["is_written"] = False  # behind an alias, or written with escapes
        self.mentions.append(Mention(symbol, span, path, owner=place.owner, **{"role": place.role, **more}))

    # --- Types

    def _schema(self, node: Json, path: Path, place: _Place) -> None:
        if isinstance(node, str):
            for word in _TYPE_WORD.finditer(node):
                if word[0] not in PLAIN and word[0] not in ("list", "of", "or"):
                    self._add(Symbol(_K.TYPE, word[0]), self._value_span(path, *word.span()), path, place)
        else:
            self._schema_references(node, path, place)

    def _schema_references(self, node: Json, path: Path, place: _Place) -> None:
        if isinstance(node, list):
            for index, item in enumerate(node):
                self._schema_references(item, (*path, index), place)
        elif isinstance(node, dict):
            for key, value in node.items():
                at = (*path, key)
                if key == "$ref" and isinstance(value, str) and value.startswith(REFERENCE):
                    name = value[len(REFERENCE) :]
                    span = self._value_span(at, len(REFERENCE), len(value))
                    self._add(Symbol(_K.TYPE, name), span, at, place)
                else:
                    self._schema_references(value, at, place)

    # --- Values and expressions

    def _data(self, node: Json, path: Path, place: _Place) -> None:
        if isinstance(node, list):
            for index, item in enumerate(node):
                self._data(item, (*path, index), place)
        elif isinstance(node, dict):
            for key, value in node.items():
                self._key_expressions(key, (*path, key), place)
                self._data(value, (*path, key), place)
        elif isinstance(node, str):
            for hole in holes_of(node):
                self._expression(hole.source, path, place, hole.at)

    def _key_expressions(self, key: str, path: Path, place: _Place) -> None:
        """A key's text has no path of its own: looked for where the key stands."""
        span = self._source.locate(path).key if "${" in key else None
        shift = self._source.text_at(span).find(key) if span is not None else -1
        if span is None or shift < 0:
            return
        for hole in holes_of(key):
            column = span.column + shift + hole.at
            for chain in find_chains(hole.source):
                spans = [Span(span.line, column + s, span.line, column + e) for _, s, e in chain]
                self._chain([link.name for link in chain], spans, path, place)

    def _expression(self, text: str, path: Path, place: _Place, at: int = 0) -> None:
        for chain in find_chains(text):
            spans = [self._value_span(path, at + start, at + end) for _, start, end in chain]
            self._chain([link.name for link in chain], spans, path, place)

    def _chain(self, names: list[str], spans: list[Span], path: Path, place: _Place) -> None:
        first = names[0]
        for number, (name, span) in enumerate(zip(names, spans, strict=True)):
            if number == 0:
                symbol = place.names.get(name) or Symbol(_K.NAME, name)
            elif number == 1 and first in _DOTTED and first not in place.names:
                symbol = self._symbol(_DOTTED[first], name, place)
            else:
                symbol = Symbol(_K.FIELD, ".".join(names[: number + 1]), place.owner)
            mention = Mention(symbol, span, path, place.owner, "expression", chain=tuple(names[: number + 1]))
            is_written = self._source.text_at(span) == name
            self.mentions.append(mention if is_written else replace(mention, is_written=False))


_INNER = (
    {(kind, "step") for kind in ("target", "movement", "route")}
    | {(f"{kind} condition", kind) for kind in CONDITION_KINDS}
    | {("set", "attribute"), ("publish", "channel")}
)
"""The role of these names is the key around their mapping: `go_to`, `until`, …"""


def holes_of(text: str) -> list[template.Hole]:
    """The expressions in a text; none where one is not closed."""
    try:
        return [part for part in template.split(text) if isinstance(part, template.Hole)]
    except template.Unclosed:
        return []


def name_conditions(node: dict[str, Json], path: Path) -> Iterator[tuple[Path, dict[str, Json], str, bool]]:
    """Path, mapping and id of each condition of a wait, and whether the id is the default (section 4)."""
    entries: list[tuple[Path, dict[str, Json]]] = []
    for key in ("until", "any_of", "all_of"):
        found = node.get(key)
        listed = list(enumerate(found)) if isinstance(found, list) else []
        entries += [((*path, key, index), item) for index, item in listed if isinstance(item, dict)]
        entries += [((*path, key), found)] if isinstance(found, dict) else []
    taken = {item["id"] for _, item in entries if isinstance(item.get("id"), str)}
    for at, item in entries:
        if isinstance(item.get("id"), str):
            yield at, item, item["id"], False
            continue
        named = [item[key] for key in ("channel", "join", "subflow") if isinstance(item.get(key), str)]
        name, number = named[0] if named else "timer", 1
        id = name
        while id in taken:
            number += 1
            id = f"{name}_{number}"
        taken.add(id)
        yield at, item, id, True
