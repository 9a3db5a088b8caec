"""Values of which nothing, or only a part, is known: what a handler returned, what a client sent.

An `Unknown` learns while an event is searched: a guard that reads it makes a bit of it known, and whoever
holds it knows then.
`freeze` gives the part worth remembering as a hashable value, `thaw` a fresh value of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import Json
from orchestrator.definition.types import Type

Frozen: TypeAlias = Any
"""Hashable: a tagged tuple."""
Paths: TypeAlias = frozenset[tuple[str, ...]]
"""Parts of a value, as paths of keys; the empty path is all of it."""

EVERYTHING: Paths = frozenset([()])
NOTHING: Paths = frozenset()
_OPAQUE: Frozen = ("?",)
_LARGEST_KNOWN_NUMBER = 16
"""Larger ones are forgotten, or counters would make every state a new one."""


class Unknown:
    """A value of which at most this is known: its fields, its elements, or what it is not."""

    __slots__ = ("excluded", "fields", "is_never_null", "known", "names", "schema")

    def __init__(self, type: Type | None = None, *, is_never_null: bool = False) -> None:
        self.schema: Json = type.schema if type is not None else {}
        self.names: Mapping[str, Json] = type.names if type is not None else {}
        self.fields: dict[str, Json] = {}
        self.known: tuple[Json] | None = None
        """The value, once it is known: scalars, and lists of known length."""
        self.excluded: list[Json] = []
        self.is_never_null = is_never_null

    def field(self, name: str) -> Json:
        if name not in self.fields:
            schema = resolve(self.schema, self.names)
            properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
            self.fields[name] = self._part(properties.get(name, {}))
        return self.fields[name]

    def become(self, value: Json) -> None:
        self.known = (value,)

    def become_list(self, length: int) -> list[Json]:
        schema = resolve(self.schema, self.names)
        items = schema.get("items", {}) if isinstance(schema, dict) else {}
        elements: list[Json] = [self._part(items) for _ in range(length)]
        self.known = (elements,)
        return elements

    def _part(self, schema: Json) -> Unknown:
        part = Unknown()
        part.schema, part.names = schema, self.names
        return part

    def options(self) -> list[Json] | None:
        """Every value that it may still have, where the type has few of them."""
        found = _members(self.schema, self.names)
        return None if found is None else [value for value in found if value not in self.excluded]

    @property
    def may_be_null(self) -> bool:
        if self.is_never_null or self.fields or None in self.excluded:
            return False
        schema = resolve(self.schema, self.names)
        parts = alternatives(schema, self.names) or [schema]
        return any(_admits_null(resolve(part, self.names)) for part in parts)


def known(value: Json) -> Json:
    """The value behind what has become known; an Unknown where it has not."""
    return value.known[0] if isinstance(value, Unknown) and value.known is not None else value


def is_unknown(value: Json) -> bool:
    return isinstance(known(value), Unknown)


def freeze(value: Json, paths: Paths = EVERYTHING) -> Frozen:
    """What is known of these parts of the value."""
    if not paths:
        return _OPAQUE
    value = known(value)
    if isinstance(value, Unknown):
        fields = value.fields
    elif isinstance(value, dict):
        fields = value
    elif isinstance(value, list | tuple):
        return ("list", tuple(freeze(element) for element in value))
    elif (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > _LARGEST_KNOWN_NUMBER
    ):
        return _OPAQUE
    else:
        return ("is", type(value).__name__, value)
    is_complete = isinstance(value, dict)
    frozen = []
    for name in sorted(fields):
        below = below_path(paths, name)
        part = freeze(fields[name], below)
        if part != _OPAQUE:
            frozen.append((name, part))
    if is_complete and () in paths:
        return ("map", tuple((name, freeze(fields[name])) for name in sorted(fields)))
    return ("some", tuple(frozen)) if frozen else _OPAQUE


def thaw(frozen: Frozen, type: Type | None = None) -> Json:
    """A fresh value, shared with nobody."""
    match frozen[0]:
        case "is":
            return frozen[2]
        case "list":
            whole = Unknown(type)
            elements = whole.become_list(len(frozen[1]))
            return [
                element if part == _OPAQUE else _learnt(element, part)
                for element, part in zip(elements, frozen[1], strict=True)
            ]
        case "map":
            return {name: thaw(part) for name, part in frozen[1]}
    return _learnt(Unknown(type), frozen)


def below_path(paths: Iterable[tuple[str, ...]], name: str) -> Paths:
    """The parts of a field, seen from it."""
    return frozenset(path[1:] for path in paths if not path or path[0] == name)


def _learnt(unknown: Unknown, frozen: Frozen) -> Json:
    if frozen[0] == "some":
        for name, part in frozen[1]:
            unknown.fields[name] = _learnt(unknown.field(name), part)
        return unknown
    return unknown if frozen == _OPAQUE else thaw(frozen)


def _members(schema: Json, names: Mapping[str, Json]) -> list[Json] | None:
    schema = resolve(schema, names)
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    parts = alternatives(schema, names)
    if parts is not None:
        found = [_members(part, names) for part in parts]
        return [value for part in found if part for value in part] if all(found) else None
    simple: dict[str, list[Json]] = {"boolean": [True, False], "null": [None]}
    kind = schema.get("type")
    return simple.get(kind) if isinstance(kind, str) else None


def _admits_null(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return True
    if "enum" in schema:
        return None in schema["enum"]
    return bool(schema.get("type", "null") == "null")
