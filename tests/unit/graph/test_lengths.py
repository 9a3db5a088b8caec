"""Counts and sizes in a form that can be compared."""

from __future__ import annotations

import pytest

from orchestrator.definition.cel_tree import Read
from orchestrator.definition.expressions import Environment, parse_value
from orchestrator.definition.types import parse_type
from orchestrator.graph.lengths import Length, length_of, length_of_list

INPUT = parse_type(
    {"type": "object", "properties": {"edits": {"type": "array"}, "count": {"type": "integer"}}}, {}
)
SCOPE = Environment({"input": INPUT, "attributes": parse_type("any", {})})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${input.count}", "input.count"),
        ("${input.count + 1}", "input.count + 1"),
        ("${1 + input.count - 3}", "input.count - 2"),
        ("${size(input.edits)}", "size(input.edits)"),
        ("${size([1, 2, 3])}", "3"),
        ("${size(range(input.count)) + 1}", "input.count + 1"),
        ("${4}", "4"),
    ],
)
def test_counts_in_one_form(text: str, shown: str) -> None:
    assert str(length_of(parse_value(text, SCOPE))) == shown


def test_a_count_written_as_a_number() -> None:
    assert length_of(parse_value(3, SCOPE)) == Length("", 3)


@pytest.mark.parametrize(
    "text",
    [
        "${input.count * 2}",
        "${input.count + size(input.edits)}",
        "${3 - input.count}",
        "${true}",
        "${max([1, 2])}",
    ],
)
def test_counts_of_another_form(text: str) -> None:
    assert length_of(parse_value(text, SCOPE)) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${input.edits}", "size(input.edits)"),
        ("${range(input.count)}", "input.count"),
        ("${range(3)}", "3"),
        ("${input.edits.filter(e, e != 'a')}", "None"),
    ],
)
def test_sizes_of_lists(text: str, shown: str) -> None:
    assert str(length_of_list(parse_value(text, SCOPE))) == shown


def test_a_name_stands_for_what_it_was_given() -> None:
    given = Read(0, ("input", "edits"))
    value = parse_value("${size(input) + 1}", Environment({"input": parse_type("array", {})}))
    assert str(length_of(value, {"input": given})) == "size(input.edits) + 1"


def test_a_part_of_a_computed_input_is_not_known() -> None:
    computed = parse_value("${range(3)}", SCOPE).tree[0]
    assert length_of(parse_value("${input.count}", SCOPE), {"input": computed}) is None
