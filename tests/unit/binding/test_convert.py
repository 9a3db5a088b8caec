"""What counts as JSON, and what becomes of everything else."""

from __future__ import annotations

import enum
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.binding.convert import NotConvertible, NotJson, copy_json, plan_input, to_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_stays_what_it_is(value: Any) -> None:
    assert to_json(value) == value
    assert copy_json(value) == value


@given(st.dictionaries(st.text(), st.lists(st.integers(0, 9), min_size=1), min_size=1))
def test_copies_share_nothing(value: Any) -> None:
    for copied in (to_json(value), copy_json(value)):
        assert copied is not value
        assert all(copied[key] is not value[key] for key in value)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Reading:
    at: datetime
    values: tuple[float, ...]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, 2), [1, 2]),
        (Colour.RED, "red"),
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "2030-01-02T03:04:05Z"),
        (timedelta(minutes=1), "PT60S"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (
            {"reading": Reading(datetime(2030, 1, 1, tzinfo=UTC), (1.0,))},
            {"reading": {"at": "2030-01-01T00:00:00Z", "values": [1.0]}},
        ),
    ],
)
def test_typed_values_become_json(value: Any, plain: Any) -> None:
    assert to_json(value) == plain


@pytest.mark.rule(101)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "nan is no JSON number"),
        ({"a": [1, float("inf")]}, r"inf is no JSON number \(at \['a'\]\[1\]\)"),
        (Reading(datetime(2030, 1, 1, tzinfo=UTC), (float("nan"),)), "nan is no JSON number"),
        (2**63, "beyond 64 bits"),
        ({5: "five"}, "the key 5 is an int; keys of JSON objects are text"),
        ("\ud800", "lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        (object(), "an object is not JSON"),
        ({"list": [lambda: 1]}, r"a function is not JSON.*at \['list'\]\[0\]"),
    ],
)
def test_what_is_no_json_is_refused_and_located(value: Any, message: str) -> None:
    with pytest.raises(NotJson, match=message):
        to_json(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(NotJson, match="contains itself"):
        to_json(loop)


class Opaque:
    pass


@pytest.mark.parametrize(
    "annotation", [Opaque, list[Opaque], dict[str, Opaque | None], "a name that is nowhere"]
)
def test_an_annotation_that_no_json_becomes_is_found_when_planning(annotation: Any) -> None:
    with pytest.raises(NotConvertible):
        plan_input(annotation)


@dataclass
class Tree:
    name: str
    children: list[Tree]


def test_a_type_that_refers_to_itself_can_be_planned() -> None:
    convert = plan_input(Tree)
    assert convert({"name": "a", "children": [{"name": "b", "children": []}]}) == Tree("a", [Tree("b", [])])


def test_a_time_comes_back_as_a_time() -> None:
    at = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    reading = Reading(at, (0.5,))
    assert plan_input(Reading)(to_json(reading)) == reading
    assert plan_input(timedelta)(to_json(timedelta(hours=1))) == timedelta(hours=1)
