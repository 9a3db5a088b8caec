"""Small values of a type: plain, fitting, and such as the flow's expressions care for."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from orchestrator.definition.types import Type, parse_type
from orchestrator.errors import InvalidValue
from orchestrator.simulate.samples import LIMIT, Samples, by_deviation
from tests.support.play import flow_of

FLOW = """
    flow: Guarded
    input: {type: object, required: [amount, note], properties: {
      amount: {type: integer}, note: {type: string}, urgent: {type: boolean}, colour: {enum: [red, blue]}}}
    start: Look
    steps:
      Look:
        decide:
          - {when: input.amount > 41 && has(input.urgent) && input.urgent, force_fail: much}
          - {when: input.note == 'special', dead_end: true}
          - {graceful_complete: done}
"""


def samples(*sizes: int) -> Samples:
    return Samples(flow_of(FLOW), sizes)


def of(written: Any, *sizes: int) -> list[Any]:
    return list(samples(*sizes).of(parse_type(written, {})))


@pytest.mark.parametrize(
    ("written", "plainest"),
    [
        ("string", "a"),
        ("boolean", False),
        ("integer", 1),
        ("number", 1.0),
        ("none", None),
        ("string or none", "a"),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": 7}, 7),
        ({"type": "string", "format": "date-time"}, "2030-01-01T00:00:00Z"),
        ({"type": "string", "minLength": 3}, "aaa"),
        ({"type": "integer", "minimum": 5}, 41),
        ({"type": "integer", "default": 9}, 9),
        ({"type": "object", "required": ["k"], "properties": {"k": {"type": "boolean"}}}, {"k": False}),
    ],
)
def test_the_first_sample_is_plain(written: Any, plainest: Any) -> None:
    assert of(written)[0] == plainest


@pytest.mark.parametrize(
    "written", ["string", "integer", "list of string", {"type": "integer", "minimum": 3, "maximum": 4}]
)
def test_every_sample_fits_and_is_given_once(written: Any) -> None:
    kind: Type = parse_type(written, {})
    values = list(samples().of(kind))
    assert 0 < len(values) <= LIMIT
    assert len({repr(value) for value in values}) == len(values)
    for value in values:
        kind.check(value)


def test_words_and_numbers_of_guards_are_tried() -> None:
    assert "special" in of("string")
    assert {40, 41, 42} <= set(of("integer"))


def test_members_that_guards_look_at_are_varied_in_pairs_too() -> None:
    flow = flow_of(FLOW)
    values = list(Samples(flow).of(flow.input))
    assert any(each.get("urgent") and each["amount"] > 41 for each in values)
    assert any(each["note"] == "special" for each in values)
    assert all("colour" not in each for each in values), "nothing looks at it"


def test_lists_have_the_lengths_asked_for_first() -> None:
    lengths = [len(value) for value in of("list of string", 3)]
    assert lengths[0] == 3
    assert {0, 1, 2} <= set(lengths)


def test_of_values_without_a_type_only_what_is_read_is_given() -> None:
    assert list(samples().of(None, [])) == [None]
    found = list(islice(samples().of(None, [("ok",), ("size",)]), 3))
    assert all(set(value) == {"ok", "size"} for value in found)
    assert True in samples().of(None, [()])


def test_a_type_that_nothing_fits_has_no_sample() -> None:
    impossible = parse_type({"type": "string", "pattern": "^[0-9]{4}-nothing-we-know$"}, {})
    with pytest.raises(InvalidValue):
        impossible.check("a")
    assert list(samples().of(impossible)) == []


def test_deviations_come_by_their_number() -> None:
    found = list(by_deviation([[0, 1, 2], [0, 1]], 100))
    assert found == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    assert list(by_deviation([[0, 1], []], 100)) == []
    assert len(list(by_deviation([[0, 1, 2], [0, 1]], 2))) == 2
