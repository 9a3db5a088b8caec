from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from orchestrator.definition.types import ANY, Type, TypeProblem, parse_type
from orchestrator.errors import InvalidValue

NAMES: dict[str, Any] = {
    "Edit": {
        "type": "object",
        "required": ["reviewer"],
        "properties": {
            "reviewer": {"type": "string"},
            "urgent": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
    },
    "Tree": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/types/Tree"}},
            "color": {"type": "string", "default": "red"},
        },
        "additionalProperties": False,
    },
    "Outcome": {"enum": ["saved", "failed"]},
}


@pytest.mark.parametrize(
    ("written", "schema", "text"),
    [
        ("string", {"type": "string"}, "string"),
        ("none", {"type": "null"}, "none"),
        ("any", {}, "any"),
        ("array", {"type": "array"}, "array"),
        ("list of integer", {"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ("Edit", {"$ref": "#/types/Edit"}, "Edit"),
        (
            "list of list of Edit",
            {"type": "array", "items": {"type": "array", "items": {"$ref": "#/types/Edit"}}},
            "list of list of Edit",
        ),
        ("string or none", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or none"),
        (
            "list of string or none",
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "list of string or none",
        ),
        ({"type": "string", "format": "date-time"}, None, "{type: string, format: date-time}"),
        ({"type": "string"}, None, "string"),
        ({"type": ["string", "null"]}, None, "string or none"),
    ],
)
def test_a_type_is_read_and_spelled(written: Any, schema: Any, text: str) -> None:
    found = parse_type(written, NAMES)
    assert found.schema == (written if schema is None else schema)
    assert found.text == text


@pytest.mark.parametrize(
    ("written", "message", "help", "at"),
    [
        ("Edt", "there is no type `Edt`", "did you mean `Edit`?", ()),
        ("edit", "there is no type `edit`", "did you mean `Edit`?", ()),
        ("int", "there is no type `int`", "write `integer`", ()),
        ("string | null", "`string | null` is not a type", "write `string or none`", ()),
        ("string[]", "`string[]` is not a type", "write `list of string`", ()),
        ("list[Edit]", "`list[Edit]` is not a type", "write `list of Edit`", ()),
        ("list of", "`list of` does not say what the list is of", "write `list of string`", ()),
        ("string or", "`string or` is not a type", "write a type on both sides of `or`", ()),
        (None, "a type is missing", "write `none` for nothing, `any` for anything", ()),
        (["a"], "a type is not a list", "write `A or B` for alternatives, `list of T` for a list", ()),
        (
            {"type": "list of string"},
            "JSON Schema has no type `list of string`",
            "inside a JSON Schema write `{type: array, items: …}`",
            ("type",),
        ),
        (
            {"properties": {"a": {"type": "Edit"}}},
            "JSON Schema has no type `Edit`",
            'write `$ref: "#/types/Edit"`',
            ("properties", "a", "type"),
        ),
        (
            {"propertes": {}},
            "JSON Schema has no keyword `propertes`",
            "did you mean `properties`?",
            ("propertes",),
        ),
        ({"format": "datetime"}, "there is no format `datetime`", "did you mean `date-time`?", ("format",)),
        ({"$ref": "#/types/Edt"}, "there is no type `Edt`", "did you mean `Edit`?", ("$ref",)),
        (
            {"$ref": "https://example.org/a"},
            "`https://example.org/a` cannot be followed",
            'write `$ref: "#/types/Name"`',
            ("$ref",),
        ),
        (
            {"required": "a"},
            "`required` is a list of property names",
            "write `required: [a, b]`",
            ("required",),
        ),
        (
            {"properties": {"a": {"type": "integer", "default": "x"}}},
            'the default does not fit its own type: expected integer, got string "x"',
            "",
            ("properties", "a", "default"),
        ),
    ],
)
def test_a_bad_type_is_refused_with_place_and_help(
    written: Any, message: str, help: str, at: tuple[str | int, ...]
) -> None:
    with pytest.raises(TypeProblem) as caught:
        parse_type(written, NAMES)
    assert (caught.value.message, caught.value.help, caught.value.at) == (message, help, at)


def test_a_pattern_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(TypeProblem, match="is not a regular expression"):
        parse_type({"type": "string", "pattern": "("}, {})


def test_a_type_that_is_only_a_reference_to_itself_is_refused() -> None:
    names = {"A": {"$ref": "#/types/B"}, "B": {"$ref": "#/types/A"}}
    with pytest.raises(TypeProblem, match="refers to itself"):
        parse_type({"$ref": "#/types/A"}, names)


@pytest.mark.parametrize(
    ("written", "value", "filled"),
    [
        ("Edit", {"reviewer": "ann"}, {"reviewer": "ann", "urgent": False, "tags": []}),
        ("list of Edit", [{"reviewer": "ann", "urgent": True, "tags": ["a"]}], None),
        ("Edit or none", None, None),
        ("Edit or string", {"reviewer": "ann"}, {"reviewer": "ann", "urgent": False, "tags": []}),
        (
            "Tree",
            {"name": "a", "children": [{"name": "b"}]},
            {"name": "a", "color": "red", "children": [{"name": "b", "color": "red"}]},
        ),
        ("integer", 5.0, 5),
        ("number", 5, None),
        ("any", {"a": [1, None, True, "x", 1.5]}, None),
    ],
)
def test_a_value_that_fits_comes_back_with_defaults(written: Any, value: Any, filled: Any) -> None:
    assert parse_type(written, NAMES).check(value) == (value if filled is None else filled)


def test_a_value_given_is_not_changed_and_defaults_are_not_shared() -> None:
    edit = parse_type("Edit", NAMES)
    given_value = {"reviewer": "ann"}
    first, second = edit.check(given_value), edit.check(given_value)
    first["tags"].append("x")
    assert given_value == {"reviewer": "ann"}
    assert second["tags"] == []


@pytest.mark.parametrize(
    ("written", "value", "message"),
    [
        ("string", 5, "expected string, got integer 5"),
        ("integer", True, "expected integer, got boolean true"),
        ("integer", 1.5, "expected integer, got number 1.5"),
        ("integer", 2**63, "integer 9223372036854775808 does not fit into 64 bits"),
        ("number", float("inf"), "inf is not a JSON number"),
        ("boolean", 1, "expected boolean, got integer 1"),
        ("any", {"a": {"b": float("nan")}}, "at .a.b: nan is not a JSON number"),
        ("any", {"a": [1, {2}]}, "at .a[1]: expected a JSON value, got a set"),
        ("string", "\ud800", "text with half a surrogate pair is not Unicode"),
        ("any", {"a": ["\ud800"]}, "at .a[0]: text with half a surrogate pair is not Unicode"),
        ("any", {1: 2}, "keys of an object are text, but one is integer 1"),
        (
            "list of Edit",
            [{"reviewer": "a"}, {"reviewer": 5}],
            "at [1].reviewer: expected string, got integer 5",
        ),
        ("Edit", {}, "`reviewer` is missing"),
        ("Tree", {"name": "a", "colour": "b"}, "`colour` is not a property, did you mean `color`?"),
        ("Outcome", "savd", 'expected "saved" or "failed", got string "savd"'),
        ("string or none", 5, "expected string or nothing (null), got integer 5"),
        ("Edit or none", {"reviewer": 5}, "at .reviewer: expected string, got integer 5"),
        ({"type": "string", "format": "date-time"}, "soon", 'expected a date-time, got string "soon"'),
        ({"type": "string", "format": "uuid"}, "x", 'expected a uuid, got string "x"'),
        ({"type": "integer", "minimum": 1}, 0, "expected 1 or more, got 0"),
        ({"type": "array", "maxItems": 1}, [1, 2], "expected at most 1 elements, got 2"),
        ({"type": "string", "pattern": "^a"}, "b", 'expected text matching `^a`, got string "b"'),
        (
            {"type": "object", "properties": {"a b": {"type": "string"}}},
            {"a b": 1},
            'at ["a b"]: expected string',
        ),
        (
            {"type": "object", "patternProperties": {"^n": {"type": "integer"}}},
            {"n": "x"},
            "at .n: 'x' is not of",
        ),
        ({"type": "array", "uniqueItems": True}, [1, 1], "has non-unique elements"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place(written: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_type(written, NAMES).check(value)
    assert message in caught.value.message


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidValue, match="nested too deeply"):
        ANY.check(value)


@pytest.mark.parametrize(
    ("given_type", "asked", "why"),
    [
        ("integer", "number", None),
        ("number", "integer", "number is given where integer is asked, which may have a fraction"),
        ("string", "string or none", None),
        ("string or none", "string", "none is given where string is asked"),
        ("any", "string", None),
        ("string", "any", None),
        ("Outcome", "string", None),
        ("string", "Outcome", 'any string is given where only "saved", "failed" is allowed'),
        ("list of integer", "list of string", "in the list: integer is given where string is asked"),
        ("list of Edit", "array", None),
        ("object", "Edit", None),
        ("Tree", "Edit", "`reviewer` is missing"),
        ("Tree", "Tree or none", None),
        (
            {"type": "object", "properties": {"reviewer": {"type": "string"}}},
            "Edit",
            "`reviewer` may be missing",
        ),
        (
            {"type": "object", "required": ["reviewer"], "properties": {"reviewer": {"type": "integer"}}},
            "Edit or none",
            "`reviewer`: integer is given where string is asked",
        ),
        ({"enum": ["saved"]}, "Outcome", None),
        ({"enum": ["lost"]}, "Outcome", 'expected "saved" or "failed", got string "lost"'),
    ],
)
def test_types_are_compared_before_anything_runs(given_type: Any, asked: Any, why: str | None) -> None:
    assert parse_type(given_type, NAMES).fits(parse_type(asked, NAMES)) == why


def test_types_are_equal_by_what_they_mean() -> None:
    assert parse_type("list of Edit", NAMES) == parse_type("list of Edit", dict(NAMES))
    assert parse_type("Edit", NAMES) != parse_type("Edit", {"Edit": {"type": "object"}})
    assert len({parse_type("string", {}), parse_type({"type": "string"}, NAMES)}) == 1


def test_null_is_admitted_where_a_type_says_so() -> None:
    assert parse_type("string or none", {}).admits_null
    assert ANY.admits_null
    assert not parse_type("Edit", NAMES).admits_null


# --- Agreement with jsonschema -----------------------------------------------------------------------------

_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2).map(lambda x: round(x, 1))
    | st.text("ab", max_size=3)
)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
_TYPE_NAMES = ["string", "integer", "number", "boolean", "null", "array", "object"]
_limits: dict[str, st.SearchStrategy[Any]] = {
    "minimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "minLength": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "minProperties": st.integers(0, 2),
    "enum": st.lists(_scalars, min_size=1, max_size=3),
    "pattern": st.sampled_from(["^a", "b$"]),
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    "type": st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
    | st.lists(
        st.sampled_from(["string", "integer", "array", "object"]), min_size=1, max_size=2, unique=True
    ),
}


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nested = {
        "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        "additionalProperties": st.booleans() | inner,
        "items": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
    }
    return st.fixed_dictionaries({}, optional={**_limits, **nested})


_any_schema = st.recursive(st.fixed_dictionaries({}, optional=_limits), _schemas, max_leaves=4)


def _accepts(type_: Type, value: Any) -> bool:
    try:
        type_.check(value)
    except InvalidValue:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(_any_schema, _values)
def test_our_checks_agree_with_jsonschema(schema: dict[str, Any], value: Any) -> None:
    assert _accepts(parse_type(schema, {}), value) == Draft202012Validator(schema).is_valid(value)
