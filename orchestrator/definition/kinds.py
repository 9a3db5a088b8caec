"""Static kinds of values inside an expression: what CEL makes of our types (language.md, "Types")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import Json

TIME_SCHEMA: Mapping[str, Json] = {"type": "string", "format": "date-time"}
_WORDS = {
    "int": "integer", "double": "number", "bool": "boolean", "map": "object", "timestamp": "time",
    "uint": "unsigned integer",
}  # fmt: skip


@dataclass(slots=True, unsafe_hash=True)
class Kind:
    """Never changed once made; not `frozen`, because thousands are made for each flow.

    `name`: any, null, bool, int, double, string, bytes, timestamp, duration, list, map, optional, type.
    """

    name: str
    element: Kind | None = None
    """Of a list, of an optional, of the values of a map; None is not known."""
    members: Mapping[str, Kind] | None = None
    """Of an object written in the expression itself."""
    schema: Json = field(default=None, compare=False)
    """Where it comes from the definition's types; `names` resolves its references."""
    names: Mapping[str, Json] = field(default_factory=dict, compare=False)
    is_raw: bool = field(default=False, compare=False)
    """JSON as it stands: a number may still be an int, a time is still text."""
    place: tuple[str, ...] = field(default=(), compare=False)
    """The static path that it was read from, for messages."""

    @property
    def word(self) -> str:
        """For messages, in the language's own words."""
        if self.name == "list" and self.element is not None and self.element.name != "any":
            return f"list of {self.element.word}"
        return _WORDS.get(self.name, self.name)

    def at(self, place: tuple[str, ...]) -> Kind:
        """Read from there."""
        return Kind(self.name, self.element, self.members, self.schema, self.names, self.is_raw, place)

    def native(self) -> Kind:
        return replace(self, is_raw=False) if self.is_raw else self


ANY_KIND = Kind("any")
NULL = Kind("null")
BOOL = Kind("bool")
INT = Kind("int")
DOUBLE = Kind("double")
STRING = Kind("string")
BYTES = Kind("bytes")
TIMESTAMP = Kind("timestamp")
DURATION = Kind("duration")
EMPTY_LIST = Kind("list")


def list_of(element: Kind) -> Kind:
    return Kind("list", element)


def optional_of(element: Kind | None) -> Kind:
    return Kind("optional", element)


_TYPES = {
    "string": "string", "int": "integer", "double": "number", "bool": "boolean", "null": "null",
    "map": "object", "duration": "number",
}  # fmt: skip
_BY_TYPE = {"string": "string", "integer": "int", "number": "double", "boolean": "bool", "null": "null"}


def kind_of(schema: Json, names: Mapping[str, Json], within: tuple[int, ...] = ()) -> Kind:
    """The kind of the values of a schema; null beside another type does not count.

    `within`: the lists and maps that it is an element of; what a type that holds itself holds is not known.
    """
    found = resolve(schema, names)
    parts = alternatives(found, names)
    if parts is not None:
        kinds = [kind_of(part, names, within) for part in parts]
        kinds = [kind for kind in kinds if kind.name != "null"] or [NULL]
        if all(kind == kinds[0] for kind in kinds) and (len(kinds) == 1 or kinds[0].name != "map"):
            one = kinds[0]
            return Kind(one.name, one.element, one.members, schema, names, one.is_raw, one.place)
        return Kind("any", schema=schema, names=names, is_raw=True)
    if not isinstance(found, dict):
        return Kind("any", is_raw=True)
    name = _name_of(found)
    element = None
    if id(found) in within:
        return Kind(name, schema=schema, names=names, is_raw=True)
    if name == "list" and "items" in found:
        element = kind_of(found["items"], names, (*within, id(found)))
    elif name == "map" and isinstance(found.get("additionalProperties"), dict) and "properties" not in found:
        element = kind_of(found["additionalProperties"], names, (*within, id(found)))
    return Kind(name, element, schema=schema, names=names, is_raw=True)


def _name_of(schema: Mapping[str, Json]) -> str:
    kind = schema.get("type")
    if kind == "string" and schema.get("format") == "date-time":
        return "timestamp"
    if kind == "array":
        return "list"
    if kind == "object" or (kind is None and "properties" in schema):
        return "map"
    if kind is None and ("enum" in schema or "const" in schema):
        values = schema.get("enum", [schema.get("const")])
        found = {_name_of_value(value) for value in values if value is not None}
        return found.pop() if len(found) == 1 else "any"
    return _BY_TYPE.get(str(kind), "any")


def _name_of_value(value: Json) -> str:
    names = {bool: "bool", int: "int", float: "double", str: "string", list: "list"}
    return names.get(type(value), "map")


def kind_of_value(value: Json) -> Kind:
    """The kind of a constant, as CEL sees it."""
    if value is None:
        return NULL
    if isinstance(value, list):
        return Kind("list", join_all([kind_of_value(element) for element in value]))
    if isinstance(value, dict):
        return Kind("map", members={key: kind_of_value(member) for key, member in value.items()})
    if isinstance(value, bytes):
        return BYTES
    name = _name_of_value(value)
    if name in ("string", "int"):
        return Kind(name, schema={"type": _TYPES[name], "enum": [value]})
    return Kind(name)


def _object_schema(kind: Kind) -> Mapping[str, Json]:
    """The schema that lists the members of an object, the alternative null aside."""
    schema = resolve(kind.schema, kind.names)
    for part in alternatives(schema, kind.names) or ():
        found = resolve(part, kind.names)
        if isinstance(found, dict) and _name_of(found) == "map":
            return found
    return schema if isinstance(schema, dict) and kind.name == "map" else {}


def members_of(kind: Kind) -> tuple[list[str], bool]:
    """Known members of an object, and whether there may be others."""
    if kind.members is not None:
        return list(kind.members), False
    schema = _object_schema(kind)
    if "properties" not in schema:
        return [], True
    is_open = schema.get("additionalProperties", False) is not False or "patternProperties" in schema
    return list(schema["properties"]), is_open or not {"allOf", "anyOf", "oneOf"}.isdisjoint(schema)


def member_kind(kind: Kind, name: str) -> Kind:
    """The kind of a member; any where it is not known."""
    if kind.members is not None:
        return kind.members.get(name, ANY_KIND)
    properties = _object_schema(kind).get("properties", {})
    if name in properties:
        return kind_of(properties[name], kind.names)
    if kind.element is not None:
        return kind.element
    return Kind("any", is_raw=kind.is_raw)


def join(one: Kind | None, other: Kind | None) -> Kind | None:
    """The kind of what may be either; any where they differ, None where neither is known."""
    if one is None or other is None:
        return other if one is None else one
    if one == other:
        return one if one.schema == other.schema else replace(one, schema=_either(one.schema, other.schema))
    if "null" in (one.name, other.name):
        kept = other if one.name == "null" else one
        return kept if kept.name in ("null", "any") else replace(kept, schema=_or_null(kept), members=None)
    if one.name == other.name and one.name in ("list", "optional", "map"):
        return Kind(one.name, join(one.element, other.element), is_raw=one.is_raw or other.is_raw)
    return ANY_KIND


def _or_null(kind: Kind) -> Json:
    schema = schema_of(kind)
    return {"anyOf": [schema, {"type": "null"}]} if schema else None


def _either(one: Json, other: Json) -> Json:
    """The schema of a word of either; None where not both list their words."""
    if not (isinstance(one, dict) and isinstance(other, dict) and "enum" in one and "enum" in other):
        return None
    return {**one, "enum": [*one["enum"], *(word for word in other["enum"] if word not in one["enum"])]}


def join_all(kinds: list[Kind]) -> Kind | None:
    found: Kind | None = None
    for kind in kinds:
        found = join(found, kind)
    return found


def schema_of(kind: Kind) -> dict[str, Json]:
    """The schema of a value of this kind once it has left its expression; {} where nothing is known."""
    if isinstance(kind.schema, dict):
        return kind.schema
    if kind.members is not None:
        properties = {name: schema_of(member) for name, member in kind.members.items()}
        return {"type": "object", "required": list(properties), "properties": properties}
    if kind.name == "list":
        element = {} if kind.element is None else schema_of(kind.element)
        return {"type": "array", "items": element} if element else {"type": "array"}
    if kind.name == "timestamp":
        return dict(TIME_SCHEMA)
    return {"type": _TYPES[kind.name]} if kind.name in _TYPES else {}
