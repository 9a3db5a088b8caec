"""Types whose alternatives lead to the same types again and again are looked at once for each value."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from types import FrameType
from typing import Any

import pytest

from orchestrator.definition.model import Json
from orchestrator.definition.parse import parse
from orchestrator.definition.types import Type
from orchestrator.errors import InvalidValue
from orchestrator.lint.runner import check_flow


def calls_of(act: Callable[[], object]) -> int:
    """How many functions of the package are called."""
    count = 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call" and "orchestrator" in frame.f_code.co_filename

    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def reference(number: int) -> Json:
    return {"$ref": f"#/types/A{max(number, 0)}"}


def doubled(
    keyword: str, count: int, *, back: int = 1, beside: dict[str, Json] | None = None
) -> dict[str, Json]:
    """A0 to A<count>, each of which names the one before it and the one `back` before it."""
    names: dict[str, Json] = {"A0": {"type": "string"}}
    for number in range(1, count + 1):
        parts = [reference(number - 1), reference(number - back)]
        names[f"A{number}"] = {keyword: parts, **(beside or {})}
    return names


def check(names: dict[str, Json], value: Json) -> str:
    try:
        return repr(Type(reference(len(names) - 1), names).check(value))
    except InvalidValue as error:
        return error.message


@pytest.mark.parametrize("value", ["x", 1, None, {"a": 1}], ids=repr)
@pytest.mark.parametrize("back", [1, 2, 3])
@pytest.mark.parametrize("beside", [None, {"maxLength": 3}], ids=["alone", "with more"])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_the_work_for_a_value_grows_with_the_number_of_types(
    keyword: str, beside: dict[str, Json] | None, back: int, value: Json
) -> None:
    def work(count: int) -> int:
        names = doubled(keyword, count, back=back, beside=beside)
        return calls_of(lambda: check(names, value))

    assert work(60) < 4 * work(20)


FLOW = """
flow: F
types: {types}
input: A{last}
output: A{last}
attributes: {{a: A{last}}}
channels: {{c: {{type: A{last}, external: true}}}}
start: S
steps:
  S:
    wait_for: {{any_of: [{{channel: c}}, {{timer: 1h}}]}}
    set: {{a: "${{wait.c.message}}"}}
    go_to: {{step: T, input: "${{input}}"}}
  T:
    input: A{last}
    decide:
      - {{when: attributes.a == input, graceful_complete: word}}
      - graceful_complete: ${{attributes.a}}
"""


@pytest.mark.parametrize("back", [1, 2])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_the_work_for_a_flow_does_not_double_with_each_type(keyword: str, back: int) -> None:
    def read(count: int) -> None:
        flow, _ = parse(FLOW.format(types=doubled(keyword, count, back=back), last=count), "f.flow.yaml")
        if flow is not None:
            check_flow(flow)

    read(1)
    assert calls_of(lambda: read(30)) < 8 * calls_of(lambda: read(10))


@pytest.mark.parametrize(
    ("value", "said"),
    [("x", "'x'"), (1, "expected string, got integer 1"), (None, "expected string, got null")],
)
def test_what_is_said_of_a_value_stays_the_same(value: Json, said: str) -> None:
    assert {check(doubled("anyOf", count), value) for count in (0, 1, 2, 5, 30)} == {said}


def test_alternatives_are_listed_once_in_a_message() -> None:
    names = doubled("anyOf", 30, back=2)
    names["A1"] = {"type": "integer"}
    assert check(names, []) == "expected integer or string, got a list of 0"


def test_values_that_change_between_two_checks_are_checked_anew() -> None:
    names = {**doubled("anyOf", 3), "A0": {"type": "object", "required": ["n"]}}
    value: dict[str, Json] = {}
    asked = Type(reference(3), names)
    with pytest.raises(InvalidValue):
        asked.check(value)
    value["n"] = 1
    assert asked.check(value) == {"n": 1}


def test_each_part_of_a_value_is_told_at_its_own_place() -> None:
    names = {**doubled("anyOf", 3), "L": {"type": "array", "items": reference(3)}}
    parts = [{"$ref": "#/types/L"}, {"$ref": "#/types/L"}]
    with pytest.raises(InvalidValue, match=r"at \[1\]: expected string, got integer 7"):
        Type({"anyOf": parts}, names).check(["x", 7])


def test_threads_do_not_share_what_is_known_of_their_values() -> None:
    asked = Type(reference(6), doubled("anyOf", 6))
    found: list[Json] = []
    threads = [Thread(target=lambda: found.extend(asked.check("x") for _ in range(200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["x"] * 800
