"""What the flow schema says of a place in a document: the keys it may have, their words, its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.definition.model import Json, Path
from orchestrator.definition.schema_files import load_flow_schema

Schema = Mapping[str, Any]
_REFERENCE = "#/definitions/"
_OF = "$of"
"""Our own keyword: the definition that a schema referred to."""


def schemas_at(document: Json, path: Path) -> list[Schema]:
    """All schemas that speak of a place, the first one most directly. The document tells which apply."""
    found = list(_spread(load_flow_schema(), document))
    node = document
    for part in path:
        node = _child(node, part)
        found = [
            inner for schema in found for below in _below(schema, part) for inner in _spread(below, node)
        ]
    return found


def keys_at(document: Json, path: Path) -> dict[str, Schema]:
    """The keys that a mapping at the place may have, with what stands under each."""
    keys: dict[str, Schema] = {}
    for schema in schemas_at(document, path):
        for key, below in schema.get("properties", {}).items():
            keys.setdefault(key, _resolved(below))
    return keys


def describe_place(document: Json, path: Path) -> str:
    """The description of a key, by the path to it; empty where the schema says nothing."""
    for schema in schemas_at(document, path):
        if text := schema.get("description", ""):
            return str(text)
    return ""


def default_at(document: Json, path: Path) -> Json:
    return next((schema["default"] for schema in schemas_at(document, path) if "default" in schema), None)


def values_at(document: Json, path: Path) -> list[Json]:
    """The words that may stand at a place."""
    values: list[Json] = []
    for schema in schemas_at(document, path):
        values += schema.get("enum", [])
        values += [schema["const"]] if "const" in schema else []
        values += [True, False] if schema.get("type") == "boolean" else []
    return [value for number, value in enumerate(values) if value not in values[:number]]


def examples_at(document: Json, path: Path) -> list[Json]:
    return [example for schema in schemas_at(document, path) for example in schema.get("examples", [])]


def is_duration(document: Json, path: Path) -> bool:
    return any(schema.get(_OF, "").endswith("duration") for schema in schemas_at(document, path))


def _below(schema: Schema, part: str | int) -> Iterator[Schema]:
    if isinstance(part, int):
        items = schema.get("items")
        if isinstance(items, dict):
            yield items
        return
    properties = schema.get("properties", {})
    if part in properties:
        yield properties[part]
    elif not part.startswith("x-") and isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


def _resolved(schema: Schema) -> Schema:
    """With what it refers to; its own words win."""
    name = schema.get("$ref")
    if not isinstance(name, str) or not name.startswith(_REFERENCE):
        return schema
    target = load_flow_schema()["definitions"][name[len(_REFERENCE) :]]
    own = {key: value for key, value in schema.items() if key != "$ref"}
    return {_OF: name[len(_REFERENCE) :], **_resolved(target), **own}


def _spread(schema: Schema, node: Json) -> Iterator[Schema]:
    """The schema and its alternatives, as far as the node does not rule them out."""
    schema = _resolved(schema)
    yield schema
    for key in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(key, [])
        for part in parts if _has_no_kinds(parts) else _kinds_of(parts, node):
            yield from _spread(part, node)


def _has_no_kinds(parts: list[Schema]) -> bool:
    return not any("if" in part for part in parts)


def _kinds_of(parts: list[Schema], node: Json) -> list[Schema]:
    """`if` a key is there, `then`; where none is, all of them."""
    keys = node if isinstance(node, dict) else {}
    chosen = [
        part["then"] for part in parts if "then" in part and set(part["if"].get("required", ())) <= set(keys)
    ]
    return chosen or [part["then"] for part in parts if "then" in part]


def _child(node: Json, part: str | int) -> Json:
    if isinstance(node, dict) and isinstance(part, str):
        return node.get(part)
    if isinstance(node, list) and isinstance(part, int) and part < len(node):
        return node[part]
    return None
