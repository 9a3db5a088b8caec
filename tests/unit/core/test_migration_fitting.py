"""Does everything of one type certainly fit another?"""

from __future__ import annotations

import pytest

from orchestrator.core.migration.fitting import Holding, filled, known, leaves_unfilled, misfit
from orchestrator.definition.model import Json
from orchestrator.definition.types import Type, parse_type

NAMES: dict[str, Json] = {
    "Tree": {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/types/Tree"}}},
    }
}


def type_of(written: Json) -> Type:
    return parse_type(written, NAMES)


FITTING: list[tuple[Json, Json]] = [
    ("integer", "integer"),
    ("integer", "number"),
    ("integer", "any"),
    ("integer", "integer or string"),
    ("integer or string", "string or none or integer"),
    ("list of integer", "list of number"),
    ({"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}),
    ({"enum": ["a", "b"]}, "string"),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 1}),
    ({"type": "integer", "minimum": 1}, "integer"),
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "object"}),
    (
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
        {
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": {"type": "number"}, "b": {"default": 1}},
        },
    ),
    ("Tree", "Tree"),
]
MISFITS: list[tuple[Json, Json]] = [
    ("number", "integer"),
    ("any", "integer"),
    ("integer or string", "integer"),
    ("string", {"enum": ["a"]}),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}),
    ("integer", {"type": "integer", "minimum": 1}),
    ("string", {"type": "string", "pattern": "^a"}),
    ("list of number", "list of integer"),
    ({"type": "array"}, "list of integer"),
    ({"type": "object"}, {"type": "object", "required": ["a"]}),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    ),
    ({"type": "object"}, {"type": "object", "additionalProperties": {"type": "integer"}}),
]


@pytest.mark.parametrize(("given", "asked"), FITTING)
def test_fitting(given: Json, asked: Json) -> None:
    assert misfit(Holding(type=type_of(given)), type_of(asked)) is None


@pytest.mark.parametrize(("given", "asked"), MISFITS)
def test_not_certain(given: Json, asked: Json) -> None:
    assert misfit(Holding(type=type_of(given)), type_of(asked))


def test_a_value_is_judged_by_what_it_is() -> None:
    assert misfit(known(3), type_of({"type": "integer", "minimum": 1})) is None
    assert misfit(known(0), type_of({"type": "integer", "minimum": 1}))
    assert misfit(known("x"), None) is None


def test_nothing_is_null() -> None:
    assert misfit(Holding(), type_of("integer or none")) is None
    assert misfit(Holding(), type_of("integer"))


def test_defaults_are_filled_in_and_told() -> None:
    asked = type_of({"type": "object", "properties": {"a": {"type": "integer", "default": 4}}})
    assert filled({}, asked) == {"a": 4}
    assert leaves_unfilled(known({}), asked)
    assert not leaves_unfilled(known({"a": 1}), asked)
    assert leaves_unfilled(Holding(type=type_of({"type": "object"})), asked)
    assert not leaves_unfilled(Holding(type=asked), asked)
