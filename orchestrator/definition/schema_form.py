"""Is an inline JSON Schema (draft 2020-12) well formed? Found out before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from orchestrator.definition.formats import FORMATS
from orchestrator.definition.model import Json, Path
from orchestrator.definition.nearness import nearest
from orchestrator.definition.type_text import REFERENCE, TypeProblem, help_for_name

JSON_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
ANNOTATIONS = frozenset(
    {"title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id"}
    | {"contentMediaType", "contentEncoding", "contentSchema", "default"}
)
_SCHEMA = {"not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "items"} | {
    "unevaluatedItems",
    "unevaluatedProperties",
}
_SCHEMA_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_SCHEMA_MAPS = {"properties", "patternProperties", "dependentSchemas", "$defs"}
_COUNTS = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} | {
    "minContains",
    "maxContains",
}
_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_OTHER = {
    "type",
    "enum",
    "const",
    "required",
    "pattern",
    "format",
    "uniqueItems",
    "$ref",
    "dependentRequired",
}
KEYWORDS = ANNOTATIONS | _SCHEMA | _SCHEMA_LISTS | _SCHEMA_MAPS | _COUNTS | _NUMBERS | _OTHER


def examine(schema: Json, names: Mapping[str, Json], at: Path = ()) -> None:
    """Raises TypeProblem for the first thing that is wrong with a schema."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise TypeProblem("a JSON Schema is a mapping, true or false", at=at)
    for keyword, value in schema.items():
        _examine_keyword(keyword, value, names, (*at, keyword))


def _examine_keyword(keyword: str, value: Json, names: Mapping[str, Json], at: Path) -> None:
    if keyword.startswith("x-") or keyword in ANNOTATIONS:
        return
    if keyword in _SCHEMA:
        examine(value, names, at)
    elif keyword in _SCHEMA_LISTS:
        if not isinstance(value, list) or not value:
            raise TypeProblem(f"`{keyword}` is a list of JSON Schemas, with one at least", at=at)
        for index, part in enumerate(value):
            examine(part, names, (*at, index))
    elif keyword in _SCHEMA_MAPS:
        if not isinstance(value, dict):
            raise TypeProblem(f"`{keyword}` maps names to JSON Schemas", at=at)
        for name, part in value.items():
            examine(part, names, (*at, name))
    elif keyword in KEYWORDS:
        _examine_plain(keyword, value, names, at)
    else:
        found = nearest(keyword, KEYWORDS)
        raise TypeProblem(
            f"JSON Schema has no keyword `{keyword}`",
            f"did you mean `{found}`?"
            if found
            else "data of your own goes under a key that begins with `x-`",
            at,
        )


def _examine_plain(keyword: str, value: Json, names: Mapping[str, Json], at: Path) -> None:
    if keyword in _COUNTS:
        _demand(
            isinstance(value, int) and not isinstance(value, bool) and value >= 0,
            f"`{keyword}` is a count",
            at,
        )
    elif keyword in _NUMBERS:
        _demand(
            isinstance(value, int | float) and not isinstance(value, bool), f"`{keyword}` is a number", at
        )
        _demand(keyword != "multipleOf" or value > 0, "`multipleOf` is more than 0", at)
    else:
        _PLAIN[keyword](value, names, at)


def _demand(is_right: bool, message: str, at: Path, help: str = "") -> None:
    if not is_right:
        raise TypeProblem(message, help, at)


def _examine_type(value: Json, names: Mapping[str, Json], at: Path) -> None:
    kinds = value if isinstance(value, list) else [value]
    _demand(bool(kinds), "`type` names one type at least", at)
    for index, kind in enumerate(kinds):
        place = (*at, index) if isinstance(value, list) else at
        if kind not in JSON_TYPES:
            raise TypeProblem(f"JSON Schema has no type `{kind}`", _help_for_type(str(kind), names), place)


def _help_for_type(kind: str, names: Mapping[str, Json]) -> str:
    if kind in names:
        return f'write `$ref: "{REFERENCE}{kind}"`'
    if kind.startswith("list of "):
        return "inside a JSON Schema write `{type: array, items: …}`"
    if " or " in kind:
        return "inside a JSON Schema write a list of types, or `anyOf`"
    if kind in ("none", "None"):
        return "write `null`, in quotes"
    if kind == "any":
        return "leave `type` out"
    return help_for_name(kind, dict.fromkeys(JSON_TYPES))


def _examine_required(value: Json, names: Mapping[str, Json], at: Path) -> None:
    is_right = isinstance(value, list) and all(isinstance(name, str) for name in value)
    _demand(is_right, "`required` is a list of property names", at, "write `required: [a, b]`")


def _examine_enum(value: Json, names: Mapping[str, Json], at: Path) -> None:
    _demand(isinstance(value, list) and bool(value), "`enum` is a list of values, with one at least", at)


def _examine_pattern(value: Json, names: Mapping[str, Json], at: Path) -> None:
    _demand(isinstance(value, str), "`pattern` is a regular expression", at)
    try:
        re.compile(value)
    except re.error as error:
        raise TypeProblem(f"`{value}` is not a regular expression: {error}", at=at) from None


def _examine_format(value: Json, names: Mapping[str, Json], at: Path) -> None:
    _demand(isinstance(value, str), "`format` is the name of a format", at, "known are " + ", ".join(FORMATS))
    if value not in FORMATS:
        found = nearest(value, FORMATS)
        raise TypeProblem(
            f"there is no format `{value}`",
            f"did you mean `{found}`?" if found else "known are " + ", ".join(FORMATS),
            at,
        )


def _examine_reference(value: Json, names: Mapping[str, Json], at: Path) -> None:
    if not isinstance(value, str) or not value.startswith(REFERENCE) or "/" in value[len(REFERENCE) :]:
        raise TypeProblem(f"`{value}` cannot be followed", f'write `$ref: "{REFERENCE}Name"`', at)
    name = value[len(REFERENCE) :]
    if name not in names:
        raise TypeProblem(f"there is no type `{name}`", help_for_name(name, names), at)
    pending, seen = [name], {name}
    while pending:
        for onward in named_in_place(names.get(pending.pop())):
            if onward == name:
                message = f"type `{name}` refers to itself for the same value, so that nothing can be checked"
                raise TypeProblem(message, "a type may hold itself under `properties` or `items`", at)
            if onward not in seen:
                seen.add(onward)
                pending.append(onward)


_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")


def named_in_place(schema: Json) -> Iterator[str]:
    """Types that the very value of this schema is checked against."""
    if not isinstance(schema, dict):
        return
    if isinstance(reference := schema.get("$ref"), str):
        yield reference[len(REFERENCE) :]
    for keyword in _IN_PLACE:
        parts = schema.get(keyword)
        for part in parts if isinstance(parts, list) else [parts]:
            yield from named_in_place(part)


def _examine_dependent(value: Json, names: Mapping[str, Json], at: Path) -> None:
    is_right = isinstance(value, dict)
    _demand(is_right, "`dependentRequired` maps a property to a list of properties", at)
    for name, needed in value.items():
        _examine_required(needed, names, (*at, name))


def _examine_unique(value: Json, names: Mapping[str, Json], at: Path) -> None:
    _demand(isinstance(value, bool), "`uniqueItems` is true or false", at)


def _examine_const(value: Json, names: Mapping[str, Json], at: Path) -> None:
    """Any value may be demanded."""


_PLAIN: Mapping[str, Callable[[Json, Mapping[str, Json], Path], None]] = {
    "type": _examine_type,
    "required": _examine_required,
    "enum": _examine_enum,
    "const": _examine_const,
    "pattern": _examine_pattern,
    "format": _examine_format,
    "$ref": _examine_reference,
    "dependentRequired": _examine_dependent,
    "uniqueItems": _examine_unique,
}
