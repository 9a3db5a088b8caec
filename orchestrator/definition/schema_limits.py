"""What a schema demands besides the kind of a value: listed values, sizes, ranges, patterns, formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orchestrator.definition.formats import has_format
from orchestrator.definition.json_kinds import Check, Misfit, describe
from orchestrator.definition.model import Json


def is_same(one: Json, other: Json) -> bool:
    """Equality of JSON: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return bool(one == other)


def one_of(allowed: list[Json]) -> Check:
    expected = " or ".join(describe(value).removeprefix("string ") for value in allowed)

    def check(value: Json) -> Json:
        if not any(is_same(value, each) for each in allowed):
            raise Misfit(f"expected {expected}, got {describe(value)}")
        return value

    return check


def limits(schema: Mapping[str, Json]) -> list[Check]:
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
