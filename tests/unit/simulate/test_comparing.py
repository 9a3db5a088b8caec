"""Expected against actual: what counts as equal, where they part, how it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.simulate.compare import compare, first_difference, is_equal, unmatched
from tests.support.rehearsing import differences_of


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, 0, False),
        ("1", 1, False),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ({"a": None}, {}, False),
        ([1], [1, 2], False),
    ],
)
def test_values_compare_as_json(expected: Any, actual: Any, equal: bool) -> None:
    assert is_equal(expected, actual) is equal
    assert is_equal(actual, expected) is equal


@pytest.mark.parametrize(
    ("expected", "actual", "at"),
    [
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ("a", "b", 1)),
        ({"a": 1}, {"a": 1, "b": 2}, ()),
        ({"a": 1, "b": 2}, {"a": 1}, ("b",)),
        ([1, 2], [1], (1,)),
        ([1], [1], None),
    ],
)
def test_the_place_of_a_difference_is_the_deepest(expected: Any, actual: Any, at: Any) -> None:
    assert first_difference(expected, actual, ()) == at


def test_lists_in_any_order_are_matched_one_to_one() -> None:
    assert unmatched([1, 1, 2], [2, 1, 3]) == ([1], [3])


def test_short_values_stand_in_the_message() -> None:
    difference = compare("status", "COMPLETED", "FAILED", ("expect",))
    assert difference is not None
    assert difference.message == "status: expected COMPLETED, it is FAILED"
    assert difference.diff() == []


def test_long_values_are_shown_as_a_diff() -> None:
    expected = [{"name": "ann", "text": "x" * 60}, {"name": "ben", "text": "y" * 60}]
    difference = compare("output", expected, [expected[0]], ())
    assert difference is not None
    text = "y" * 60
    assert [line for line in difference.diff() if line.startswith("-")] == [
        f'- - {{"name": "ben", "text": "{text}"}}'
    ]


FLOW = """
flow: F
attributes: {status: string, progress: {type: integer, map: true}}
channels: {a: integer, m: {type: string, map: true}}
start: A
steps:
  A:
    set: {status: new, progress: {x: 1}}
    publish: [{channel: a, value: 1}, {channel: m, key: k, value: v}]
    go_to_many: [B, C]
  B: {graceful_complete: 1}
  C: {graceful_complete: two}
"""


def test_every_expectation_is_compared_at_its_place(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: all wrong
            expect:
              status: FAILED
              outputs: [1, three]
              error: {type: timeout}
              path: [A-1, C-1, B-1]
              counts: {B: 2}
              attributes: {status: old, progress: {x: 2}}
              messages: {a: [], m: {}}
              took: 1s
              active: [B-1]
    """
    assert differences_of(tmp_path, FLOW, rehearsals) == [
        "5:15 status: expected FAILED, it is COMPLETED",
        "6:20 outputs: three did not come; two came",
        "7:14 error: expected one, there is none",
        '8:19 path: expected ["A-1", "C-1", "B-1"], it is ["A-1", "B-1", "C-1"]',
        "9:19 counts.B: expected 2, it is 1",
        "10:28 attributes.status: expected old, it is new",
        '10:47 attributes.progress: expected {"x": 2}, it is {"x": 1}',
        "11:21 messages.a: expected [], it is [1]",
        '11:28 messages.m: expected {}, it is {"k": ["v"]}',
        "12:13 took: expected 1s, it is 0s",
        '13:15 active: expected ["B-1"], it is []',
    ]


def test_what_is_right_makes_no_difference(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: all right
            expect:
              status: COMPLETED
              outputs: [two, 1]
              error: null
              path: {starts_with: [A-1], contains: [C-1]}
              counts: {B: 1}
              attributes: {status: new, progress: {x: 1}}
              messages: {a: [1], m: {k: [v]}}
              took: 0s
              active: []
          - {name: by execution, expect: {outputs: {B-1: 1, C-1: two}}}
        """
    assert differences_of(tmp_path, FLOW, rehearsals) == []


def test_a_run_without_expectations_must_complete(tmp_path: Path) -> None:
    flow = "flow: F\nstart: A\nsteps: {A: {force_fail: no}}\n"
    assert differences_of(tmp_path, flow, "rehearsals: [{name: a}]") == [
        "1:14 status: expected COMPLETED, it is FAILED"
    ]
