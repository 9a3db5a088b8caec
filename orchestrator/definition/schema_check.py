"""JSON Schemas compiled to Python closures that check a value and fill in defaults.

What is rare (`if`, `patternProperties`, …) is left to `jsonschema`, node by node.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from orchestrator.definition.formats import FORMATS
from orchestrator.definition.json_kinds import (
    KINDS,
    Check,
    Misfit,
    check_any,
    check_elements,
    check_null,
    describe,
    plain_as,
)
from orchestrator.definition.model import Json
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.schema_answers import Answers
from orchestrator.definition.schema_form import named_in_place
from orchestrator.definition.schema_limits import limits, one_of
from orchestrator.definition.type_text import REFERENCE

_RARE = frozenset(
    {"not", "if", "then", "else", "contains", "minContains", "maxContains", "propertyNames", "prefixItems"}
    | {"patternProperties", "dependentSchemas", "dependentRequired", "unevaluatedItems", "multipleOf"}
    | {"unevaluatedProperties", "uniqueItems"}
)
_TYPE_NAMES = {"null": "none"}


class Compiler:
    """Compiles the schemas of one table of named types; a named type is compiled once."""

    def __init__(self, names: Mapping[str, Json]) -> None:
        self._names = names
        self._named: dict[str, Check] = {}
        self._answers = Answers()

    def compile(self, schema: Json) -> Check:
        if schema is True:
            return check_any
        if schema is False:
            return _check_nothing
        if not isinstance(schema, dict):
            raise TypeError(f"{schema!r} is no schema")
        rare = _RARE.intersection(schema)
        checks = self._parts(
            {k: v for k, v in schema.items() if k not in _hidden_by(rare)} if rare else schema
        )
        if rare:
            checks.append(_with_jsonschema(schema, self._names))
        return checks[0] if len(checks) == 1 else _in_turn(checks)

    def _parts(self, schema: Mapping[str, Json]) -> list[Check]:
        checks: list[Check] = []
        if "$ref" in schema:
            checks.append(self._reference(schema["$ref"][len(REFERENCE) :]))
        checks += self._alternatives(schema)
        if not checks or not _says_no_type(schema):
            checks.insert(0, self._typed(schema))
        if "enum" in schema:
            checks.append(one_of(schema["enum"]))
        if "const" in schema:
            checks.append(one_of([schema["const"]]))
        checks += limits(schema)
        return checks

    def _reference(self, name: str) -> Check:
        def check_named(value: Json) -> Json:
            check = self._named.get(name)
            if check is None:
                check = self.compile(self._names[name])
                if next(named_in_place(self._names[name]), None) is not None:
                    check = self._answers.kept_of(name, check)
                self._named[name] = check
            return check(value)

        return check_named

    def _alternatives(self, schema: Mapping[str, Json]) -> list[Check]:
        checks: list[Check] = [self.compile(part) for part in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                parts = [self.compile(part) for part in schema[keyword]]
                checks.append(_any_of(parts) if keyword == "anyOf" else _exactly_one_of(parts))
        return checks

    def _typed(self, schema: Mapping[str, Json]) -> Check:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return _first_kind({kind: self._kind(kind, schema) for kind in kinds})
        if kinds is None:
            structured = {kind: self._kind(kind, schema) for kind in ("object", "array")}
            return _structured(structured["object"], structured["array"])
        return self._kind(kinds, schema)

    def _kind(self, kind: str, schema: Mapping[str, Json]) -> Check:
        if kind == "array" and "items" in schema:
            return _list_of(self.compile(schema["items"]))
        if kind == "object" and not {"properties", "required", "additionalProperties"}.isdisjoint(schema):
            return self._object(schema)
        return KINDS[kind]

    def _object(self, schema: Mapping[str, Json]) -> Check:
        declared = schema.get("properties", {})
        properties = {name: self.compile(part) for name, part in declared.items()}
        defaults = {
            name: part["default"]
            for name, part in declared.items()
            if isinstance(part, dict) and "default" in part
        }
        others = schema.get("additionalProperties", True)
        return _object_of(
            properties, defaults, tuple(schema.get("required", ())), self.compile(others), others is False
        )


def _says_no_type(schema: Mapping[str, Json]) -> bool:
    return {"type", "properties", "required", "items", "additionalProperties"}.isdisjoint(schema)


def _hidden_by(rare: frozenset[str]) -> frozenset[str]:
    """Keywords whose meaning depends on a rare one beside them."""
    hidden = rare
    if "patternProperties" in rare:
        hidden |= {"additionalProperties"}
    if "prefixItems" in rare:
        hidden |= {"items"}
    return hidden


def _check_nothing(value: Json) -> Json:
    raise Misfit(f"nothing is allowed here, got {describe(value)}")


def _in_turn(checks: list[Check]) -> Check:
    def check(value: Json) -> Json:
        for part in checks:
            value = part(value)
        return value

    return check


def _list_of(check_element: Check) -> Check:
    def check(value: Json) -> Json:
        if type(value) is list:
            return check_elements(value, check_element)
        return plain_as(list, value, "list", check)

    return check


def _structured(check_members: Check, check_elements: Check) -> Check:
    def check(value: Json) -> Json:
        if isinstance(value, dict):
            return check_members(value)
        return check_elements(value) if isinstance(value, list) else check_any(value)

    return check


def _first_kind(checks: Mapping[str, Check]) -> Check:
    expected = " or ".join(_TYPE_NAMES.get(kind, kind) for kind in checks)
    ordered = list(checks.items())

    def check(value: Json) -> Json:
        for kind, part in ordered:
            if _is_kind(kind, value):
                return part(value)
        raise Misfit(f"expected {expected}, got {describe(value)}")

    return check


def _is_kind(kind: str, value: Json) -> bool:
    try:
        _SHALLOW[kind](value)
    except Misfit:
        return False
    return True


def _is_instance(kind: type) -> Check:
    def check(value: Json) -> Json:
        if not isinstance(value, kind):
            raise Misfit("")
        return value

    return check


_SHALLOW: Mapping[str, Check] = {**KINDS, "object": _is_instance(dict), "array": _is_instance(list)}


def _any_of(parts: list[Check]) -> Check:
    has_null = check_null in parts

    def check(value: Json) -> Json:
        if value is None and has_null:
            return None
        misfits = []
        for part in parts:
            try:
                return part(value)
            except Misfit as misfit:
                misfits.append(misfit)
        raise _closest(misfits)

    return check


def _exactly_one_of(parts: list[Check]) -> Check:
    def check(value: Json) -> Json:
        misfits, found = [], []
        for part in parts:
            try:
                found.append(part(value))
            except Misfit as misfit:
                misfits.append(misfit)
        if not found:
            raise _closest(misfits)
        if len(found) > 1:
            raise Misfit(f"{describe(value)} fits {len(found)} alternatives of `oneOf`, where only one may")
        return found[0]

    return check


def _closest(misfits: list[Misfit]) -> Misfit:
    """The alternative that fitted furthest says it best; all at the top say it together."""
    deepest = max(misfits, key=lambda misfit: len(misfit.at))
    if deepest.at:
        return deepest
    heads = [m.message.partition(", got ") for m in misfits]
    if all(head.startswith("expected ") and tail for head, _, tail in heads):
        words = (word for head, _, _ in heads for word in head.removeprefix("expected ").split(" or "))
        expected = list(dict.fromkeys(words))
        return Misfit(f"expected {' or '.join(expected)}, got {heads[0][2]}")
    return deepest


def _object_of(
    properties: Mapping[str, Check],
    defaults: Mapping[str, Json],
    required: tuple[str, ...],
    check_other: Check,
    is_closed: bool,
) -> Check:
    def check(value: Json) -> Json:
        if type(value) is not dict:
            return plain_as(dict, value, "object", check)
        given = value
        if not defaults.keys() <= value.keys():
            value = {**value, **{k: _copied(d) for k, d in defaults.items() if k not in value}}
        for name in required:
            if name not in value:
                raise Misfit(f"`{name}` is missing")
        filled = value
        for key, member in value.items():
            part = properties.get(key, check_other)
            if is_closed and key not in properties:
                raise Misfit(_unknown(key, properties))
            if not isinstance(key, str):
                raise Misfit(f"keys of an object are text, but one is {describe(key)}")
            try:
                checked = part(member)
            except Misfit as misfit:
                misfit.at = (key, *misfit.at)
                raise
            if checked is not member:
                filled = dict(value) if filled is given or filled is value else filled
                filled[key] = checked
        return filled

    return check


def _copied(default: Json) -> Json:
    return deepcopy(default) if isinstance(default, dict | list) else default


def _unknown(key: Json, properties: Mapping[str, Check]) -> str:
    help = did_you_mean(str(key), properties)
    return f"`{key}` is not a property" + (f", {help}" if help else "")


def _with_jsonschema(schema: Mapping[str, Json], names: Mapping[str, Json]) -> Check:
    validator: Any = None

    def check(value: Json) -> Json:
        nonlocal validator
        if validator is None:
            from jsonschema import Draft202012Validator, FormatChecker

            formats = FormatChecker(formats=())
            for name, has in FORMATS.items():
                formats.checks(name, raises=ValueError)(
                    lambda text, has=has: not isinstance(text, str) or has(text)
                )
            validator = Draft202012Validator({**schema, "types": dict(names)}, format_checker=formats)
        error = next(
            iter(sorted(validator.iter_errors(value), key=lambda found: len(found.absolute_path))), None
        )
        if error is not None:
            raise Misfit(error.message, tuple(error.absolute_path))
        return value

    return check
