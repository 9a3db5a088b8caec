"""Whatever stands in a file becomes problems with a place, never an exception."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.definition.model import Json
from orchestrator.definition.parse import parse, read_document
from orchestrator.definition.schema_form import KEYWORDS

FLOWS = Path(__file__).parents[3] / "flows"
EVERYTHING = """
flow: F
handlers: m
types: {T: {type: object, properties: {x: {type: integer}}}}
input: T
output: any
attributes: {n: integer, m: {type: T, map: true, initial: {}, index: {type: int, key: K}}}
channels: {c: string, d: {type: T, map: true, delivery: latest, capacity: 1}}
joins: {j: integer}
config: {durability: sync}
start: A
steps:
  A:
    let: {a: "${input.x}"}
    wait_for:
      any_combination_of: [[p, q], [r]]
      conditions:
        p: {channel: c, at_least: 1, at_most: "${a}"}
        q: {channel: d, key: k, for_each: [1], as: e, when: e > 0}
        r: {timer: 1h}
      local: {l: 1}
    execute: {handler: f, may: {set: {n: {max: 1}}}, retry: {maximum_attempts: 1}, locks: [n, {m: k}], loads: [m]}
    result: {name: r, type: T}
    on_failure: {step: A, options: {execute: {timeout: 1s}, on_failure: A}}
    decide:
      - {when: r.x > 1, set: {m: {"${string(a)}": "${r}"}}, go_to: {step: A, input: "${r}"}}
      - {choice: w, publish: [{channel: c, value: x, for_each: [1], as: e, when: e == 1}], dead_end: true}
      - go_to_many: [{for_each: [{x: 1}], step: A}]
        join: j
        otherwise: {report: {j: 1}, graceful_complete: }
      - force_complete_if_channels_empty: {channels: [c], otherwise: {cancel: [A], force_fail: x}}
  B: {wait_for: {any_of: [{subflow: X, timeout: 1h}, {join: j, need: 1}, {timer_at: 5}]}, force_complete: "${wait.timer}"}
rpcs:
  r: {input: T, output: T, handler: h, timeout: 1s, decide: [{when: true, returns: "${input}"}, {reject: no}]}
timeout: {after: 1h, policy: handler}
on_timeout: {let: {z: 1}, set: {n: 1}, force_fail: late}
verify: {fan_out: [1], external: {c: [0, 1]}, properties: [{never: {step: A, with: B}}]}
"""  # noqa: E501
ODD: list[Json] = [
    None, True, 0, -1, 1.5, 10**30, "", "x", "${", "${input}", "${1 +}", "}", "${wait.p}", "a b", "é",
    "A", "c", "n", [], {}, [[]], [None], {"x": None}, {"": 1}, {"when": 1}, {"step": "A"},
    {"channel": "c"}, [1, "A"], "1h", "while",
]  # fmt: skip


def document(text: str) -> Json:
    _, node, problems = read_document(text, "f")
    assert problems == []
    return node


DOCUMENTS = [
    document(EVERYTHING),
    *(document(path.read_text("utf-8")) for path in sorted(FLOWS.rglob("*.flow.yaml"))),
]


def places_of(node: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for part, value in entries for place in places_of(value, (*path, part)))]


def replaced(node: Json, path: tuple[str | int, ...], value: Json, new_key: str | None) -> Json:
    if not path:
        return value
    node = copy.copy(node)
    if len(path) == 1 and new_key is not None and isinstance(node, dict):
        node[new_key] = node.pop(path[0])
        return node
    node[path[0]] = replaced(node[path[0]], path[1:], value, new_key)
    return node


def test_the_flow_with_everything_is_correct() -> None:
    flow, problems = parse(EVERYTHING, "f")
    assert flow is not None, [problem.concise() for problem in problems]


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
def test_no_value_of_a_json_schema_keyword_gives_an_exception(keyword: str) -> None:
    for odd in [*ODD, {"a": []}, {"a": [[]]}, [{"a": 1}]]:
        flow, problems = parse(json.dumps({"flow": "F", "types": {"T": {keyword: odd}}, "input": "T"}), "f")
        assert (flow is None) == bool(problems)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_mutilated_definition_gives_problems_not_exceptions(data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places_of(node)))
        odd = data.draw(st.sampled_from(ODD))
        new_key = data.draw(st.none() | st.sampled_from([key for key in ODD if isinstance(key, str)]))
        node = replaced(node, path, odd, new_key)
    text = json.dumps(node, ensure_ascii=False)
    flow, problems = parse(text, "f")
    assert (flow is None) == bool(problems)
    assert all(problem.span.line >= 1 and problem.message for problem in problems)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(
        alphabet=st.sampled_from("ab:{}[],'\"|>-&*!#%@`?$ \n\t\r\x85\u2028é日\x07\ufeff12.\\"), max_size=60
    )
)
def test_any_text_gives_problems_not_exceptions(text: str) -> None:
    flow, problems = parse(text, "f")
    assert (flow is None) == bool(problems)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_broken_line_gives_problems_not_exceptions(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(EVERYTHING) - 1))
    piece = data.draw(st.text(alphabet=":{}[]'\"-&*!#${}\t\n ", min_size=1, max_size=3))
    cut = data.draw(st.integers(0, 5))
    flow, problems = parse(EVERYTHING[:place] + piece + EVERYTHING[place + cut :], "f")
    assert (flow is None) == bool(problems)
    for problem in problems:
        assert problem.frame(None)


def test_hundreds_of_unquoted_expressions_give_problems_not_exceptions() -> None:
    text = "flow: F\nstart: A\nsteps:\n" + "".join(
        f"  A{number}:\n    when: ${{max([1, 2]): x}} {{\n    dead_end: true\n" for number in range(400)
    )
    _, problems = parse(text, "f")
    assert "YML017" in {problem.code for problem in problems}
