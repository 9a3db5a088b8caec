"""JSON Schemas compiled to Python closures that check a value and fill in defaults.

What is rare (`if`, `patternProperties`, …) is left to `jsonschema`, node by node.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from orchestrator.definition.formats import FORMATS, has_format
from orchestrator.definition.model import Json, Path
from orchestrator.definition.type_text import REFERENCE

Check: TypeAlias = Callable[[Json], Json]
"""Returns the value with defaults filled in (the same object if there was nothing to fill), or raises Misfit."""

_LIMIT = 2**63
_RARE = frozenset(
    {"not", "if", "then", "else", "contains", "minContains", "maxContains", "propertyNames", "prefixItems"}
    | {"patternProperties", "dependentSchemas", "dependentRequired", "unevaluatedItems", "multipleOf"}
    | {"unevaluatedProperties", "uniqueItems"}
)
_TYPE_NAMES = {"null": "none"}


class Misfit(Exception):
    """A value that does not fit; `at` is built up on the way out."""

    def __init__(self, message: str, at: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def describe(value: Json) -> str:
    """`integer 5`, `string "abc"`, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean {str(value).lower()}"
    if isinstance(value, int):
        return f"integer {value}" if abs(value) < 10**30 else "an integer of more than 30 digits"
    if isinstance(value, float):
        return f"number {value!r}"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else value[:39] + "…"
        return f'string "{shown}"'
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return (
            "an object with " + ", ".join(f"`{key}`" for key in list(value)[:5])
            if value
            else "an empty object"
        )
    return f"a {type(value).__name__}"


# --- Plain kinds -------------------------------------------------------------------------------------------


def check_any(value: Json) -> Json:
    """Is it JSON at all, without NaN, Infinity and integers beyond 64 bit?"""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int:
        return check_integer(value)
    if kind is float:
        return check_number(value)
    if kind is dict:
        return _check_members(value)
    if kind is list:
        return _check_elements(value, check_any)
    return _plain(value, "a JSON value", check_any)


def _plain(value: Json, expected: str, check: Check) -> Json:
    """Subclasses of JSON's types (StrEnum, IntEnum, OrderedDict, …) count as what they are."""
    for kind in (bool, int, float, str, dict, list):
        if isinstance(value, kind) and type(value) is not kind:
            return check(str.__str__(value) if kind is str else kind(value))
    raise Misfit(f"expected {expected}, got {describe(value)}")


def check_string(value: Json) -> Json:
    return value if type(value) is str else _plain_as(str, value, "string", check_string)


def check_boolean(value: Json) -> Json:
    if value is True or value is False:
        return value
    raise Misfit(f"expected boolean, got {describe(value)}")


def check_null(value: Json) -> Json:
    if value is None:
        return None
    raise Misfit(f"expected nothing (null), got {describe(value)}")


def check_integer(value: Json) -> Json:
    if type(value) is int:
        if -_LIMIT <= value < _LIMIT:
            return value
        raise Misfit(f"{describe(value)} does not fit into 64 bits")
    if type(value) is float and value.is_integer():
        return check_integer(int(value))
    return _plain_as((int, float), value, "integer", check_integer)


def check_number(value: Json) -> Json:
    if type(value) is float:
        if math.isfinite(value):
            return value
        raise Misfit(f"{value} is not a JSON number")
    if type(value) is int:
        return check_integer(value)
    return _plain_as((int, float), value, "number", check_number)


def check_object(value: Json) -> Json:
    return _check_members(value) if type(value) is dict else _plain_as(dict, value, "object", check_object)


def check_list(value: Json) -> Json:
    if type(value) is list:
        return _check_elements(value, check_any)
    return _plain_as(list, value, "list", check_list)


def _plain_as(kinds: type | tuple[type, ...], value: Json, expected: str, check: Check) -> Json:
    is_exact = type(value) in (bool, int, float, str, dict, list)
    if isinstance(value, kinds) and not is_exact:
        return _plain(value, expected, check)
    raise Misfit(f"expected {expected}, got {describe(value)}")


def _check_members(value: dict[str, Json]) -> Json:
    filled = value
    for key, member in value.items():
        if type(key) is not str and not isinstance(key, str):
            raise Misfit(f"keys of an object are text, but one is {describe(key)}")
        kind = type(member)
        if kind is str or member is None or kind is bool:
            continue
        try:
            checked = check_any(member)
        except Misfit as misfit:
            misfit.at = (key, *misfit.at)
            raise
        if checked is not member:
            filled = dict(value) if filled is value else filled
            filled[key] = checked
    return filled


def _check_elements(value: list[Json], check: Check) -> Json:
    filled = value
    for index, element in enumerate(value):
        try:
            checked = check(element)
        except Misfit as misfit:
            misfit.at = (index, *misfit.at)
            raise
        if checked is not element:
            filled = list(value) if filled is value else filled
            filled[index] = checked
    return filled


_KINDS: Mapping[str, Check] = {
    "string": check_string,
    "integer": check_integer,
    "number": check_number,
    "boolean": check_boolean,
    "object": check_object,
    "array": check_list,
    "null": check_null,
}


# --- Compiling ---------------------------------------------------------------------------------------------


class Compiler:
    """Compiles the schemas of one table of named types; a named type is compiled once."""

    def __init__(self, names: Mapping[str, Json]) -> None:
        self._names = names
        self._named: dict[str, Check] = {}

    def compile(self, schema: Json) -> Check:
        if schema is True:
            return check_any
        if schema is False:
            return _check_nothing
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
            checks.append(_one_of(schema["enum"]))
        if "const" in schema:
            checks.append(_one_of([schema["const"]]))
        checks += _limits(schema)
        return checks

    def _reference(self, name: str) -> Check:
        def check_named(value: Json) -> Json:
            check = self._named.get(name)
            if check is None:
                check = self._named[name] = self.compile(self._names[name])
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
        return _KINDS[kind]

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
            return _check_elements(value, check_element)
        return _plain_as(list, value, "list", check)

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


_SHALLOW: Mapping[str, Check] = {**_KINDS, "object": _is_instance(dict), "array": _is_instance(list)}


def _any_of(parts: list[Check]) -> Check:
    def check(value: Json) -> Json:
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
        expected = list(dict.fromkeys(head.removeprefix("expected ") for head, _, _ in heads))
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
            return _plain_as(dict, value, "object", check)
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
    from copy import deepcopy

    return deepcopy(default) if isinstance(default, dict | list) else default


def _unknown(key: Json, properties: Mapping[str, Check]) -> str:
    from orchestrator.definition.nearness import did_you_mean

    help = did_you_mean(str(key), properties)
    return f"`{key}` is not a property" + (f", {help}" if help else "")


def is_same(one: Json, other: Json) -> bool:
    """Equality of JSON: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return bool(one == other)


def _one_of(allowed: list[Json]) -> Check:
    expected = " or ".join(describe(value).removeprefix("string ") for value in allowed)

    def check(value: Json) -> Json:
        if not any(is_same(value, each) for each in allowed):
            raise Misfit(f"expected {expected}, got {describe(value)}")
        return value

    return check


# --- Limits ------------------------------------------------------------------------------------------------


def _limits(schema: Mapping[str, Json]) -> list[Check]:
    checks: list[Check] = []
    for keyword, (kind, measure, noun) in _MEASURES.items():
        low, high = schema.get(f"min{keyword}"), schema.get(f"max{keyword}")
        if low is not None or high is not None:
            checks.append(_within(kind, measure, low, high, noun))
    if not {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}.isdisjoint(schema):
        checks.append(_in_range(schema))
    if "pattern" in schema:
        checks.append(_matching(schema["pattern"]))
    if "format" in schema:
        checks.append(_formatted(schema["format"]))
    return checks


_MEASURES: Mapping[str, tuple[type, Callable[[Json], int], str]] = {
    "Length": (str, len, "characters"),
    "Items": (list, len, "elements"),
    "Properties": (dict, len, "properties"),
}


def _within(
    kind: type, measure: Callable[[Json], int], low: int | None, high: int | None, noun: str
) -> Check:
    def check(value: Json) -> Json:
        if isinstance(value, kind):
            count = measure(value)
            if low is not None and count < low:
                raise Misfit(f"expected at least {low} {noun}, got {count}")
            if high is not None and count > high:
                raise Misfit(f"expected at most {high} {noun}, got {count}")
        return value

    return check


def _in_range(schema: Mapping[str, Json]) -> Check:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")

    def check(value: Json) -> Json:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if low is not None and value < low:
                raise Misfit(f"expected {low} or more, got {value}")
            if high is not None and value > high:
                raise Misfit(f"expected {high} or less, got {value}")
            if above is not None and value <= above:
                raise Misfit(f"expected more than {above}, got {value}")
            if below is not None and value >= below:
                raise Misfit(f"expected less than {below}, got {value}")
        return value

    return check


def _matching(pattern: str) -> Check:
    search = re.compile(pattern).search

    def check(value: Json) -> Json:
        if isinstance(value, str) and search(value) is None:
            raise Misfit(f"expected text matching `{pattern}`, got {describe(value)}")
        return value

    return check


def _formatted(name: str) -> Check:
    def check(value: Json) -> Json:
        if isinstance(value, str) and not has_format(name, value):
            raise Misfit(f"expected a {name}, got {describe(value)}")
        return value

    return check


# --- The rest ----------------------------------------------------------------------------------------------


def _with_jsonschema(schema: Mapping[str, Json], names: Mapping[str, Json]) -> Check:
    validator = None

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
