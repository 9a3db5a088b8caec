"""Types that refer to themselves, and types that others refer to in long or wide rows."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.definition.fitting import alternatives
from orchestrator.definition.kinds import kind_of
from orchestrator.definition.parse import parse
from orchestrator.lint.runner import check_flow
from tests.support.play import Play, flow_of


def flow(types: str, output: str = "input") -> str:
    return f"""
flow: F
types: {{{types}}}
input: T
attributes: {{kept: T}}
channels: {{c: {{type: T, leftover: true}}}}
start: A
steps:
  A:
    set: {{kept: "${{input}}"}}
    publish: {{c: "${{input}}"}}
    go_to: B
  B: {{input: T, graceful_complete: "${{{output}}}"}}
"""


HOLDING = [
    ("T: {type: array, items: {$ref: '#/types/T'}}", [[[]], []], "input[0][0]", []),
    ("T: {type: array, items: {anyOf: [{$ref: '#/types/T'}, {type: string}]}}", [["a"]], "input[0]", ["a"]),
    ("T: {type: object, additionalProperties: {$ref: '#/types/T'}}", {"a": {"b": {}}}, "input.a.b", {}),
    (
        "T: {type: array, items: {$ref: '#/types/U'}}, "
        "U: {type: object, additionalProperties: {$ref: '#/types/T'}}",
        [{"a": [{}]}],
        "input[0].a[0]",
        {},
    ),
    (
        "T: {type: object, properties: {v: {type: integer}, kids: {type: array, items: {$ref: '#/types/T'}}}}"
        "",
        {"kids": [{"kids": [{"v": 3}]}]},
        "input.kids[0].kids[0].v",
        3,
    ),
]


@pytest.mark.parametrize(("types", "given", "expression", "output"), HOLDING)
def test_a_type_may_hold_itself(types: str, given: Any, expression: str, output: Any) -> None:
    text = flow(types, expression)
    assert [problem.code for problem in check_flow(flow_of(text))] == []
    play = Play(text, given)
    play.settle()
    assert play.outputs == [output]


@pytest.mark.parametrize(
    "types",
    [
        "T: {anyOf: [{$ref: '#/types/T'}, {type: string}]}",
        "T: {allOf: [{$ref: '#/types/T'}]}",
        "T: {not: {$ref: '#/types/T'}}",
        "T: {oneOf: [{type: string}, {allOf: [{$ref: '#/types/U'}]}]}, U: {$ref: '#/types/T'}",
    ],
)
def test_a_type_that_a_value_is_checked_against_for_ever_is_refused(types: str) -> None:
    _, problems = parse(flow(types), "x.flow.yaml")
    assert {problem.code for problem in problems} == {"TYP001"}
    assert "refers to itself" in problems[0].message


def test_alternatives_that_share_a_type_are_looked_at_once() -> None:
    names: dict[str, Any] = {f"T{n}": {"anyOf": [{"$ref": f"#/types/T{n + 1}"}] * 2} for n in range(40)}
    names["T40"] = {"type": "string"}
    assert kind_of({"$ref": "#/types/T0"}, names).name == "string"
    assert alternatives({"$ref": "#/types/T0"}, names) == [{"$ref": "#/types/T40"}]


@pytest.mark.parametrize(
    "shape", ["{type: array, items: REST}", "{type: object, additionalProperties: REST}"]
)
def test_a_very_long_row_of_types_is_a_problem_and_no_crash(shape: str) -> None:
    row = ", ".join(f"T{n}: " + shape.replace("REST", f"{{$ref: '#/types/T{n + 1}'}}") for n in range(2_000))
    _, problems = parse(flow(f"T: {{$ref: '#/types/T0'}}, {row}, T2000: {{}}"), "x.flow.yaml")
    assert [problem.code for problem in problems] == ["YML015"]


def test_lists_of_lists_end_somewhere() -> None:
    written = "flow: F\ninput: {}string\n"
    assert parse(written.format("list of " * 50), "x.flow.yaml")[1] == []
    (problem,) = parse(written.format("list of " * 5_000), "x.flow.yaml")[1]
    assert (problem.code, problem.span.line, problem.span.column) == ("TYP001", 2, 8)
