"""What was expected against what came: differences, each with its place in the rehearsal file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.definition.model import Json, Path

_INLINE_LIMIT = 60
"""Characters of a value that a message shows in its line."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`expected` and `actual` are whole values; `at` is the place where they first differ.

    `is_told`: the message shows both.
    """

    what: str
    at: Path
    message: str
    expected: Json = None
    actual: Json = None
    has_values: bool = True
    is_told: bool = True

    def diff(self) -> list[str]:
        """Lines marked `-` (expected), `+` (actual) or with a blank."""
        if self.is_told:
            return []
        marked = difflib.ndiff(lines_of(self.expected), lines_of(self.actual))
        return [line.rstrip() for line in marked if not line.startswith("?")]


def compare(what: str, expected: Json, actual: Json, path: Path) -> Difference | None:
    """As JSON: 1 equals 1.0, but not true."""
    at = first_difference(expected, actual, path)
    if at is None:
        return None
    shown = [one_line(value) for value in (expected, actual)]
    if all(len(text) <= _INLINE_LIMIT for text in shown):
        return Difference(what, at, f"{what}: expected {shown[0]}, it is {shown[1]}", expected, actual)
    message = f"{what} is not as expected (-), it is (+):"
    return Difference(what, at, message, expected, actual, is_told=False)


def first_difference(expected: Json, actual: Json, path: Path) -> Path | None:
    """Where in `expected` the two part; None: they are equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key not in actual:
                return (*path, key)
            found = first_difference(value, actual[key], (*path, key))
            if found is not None:
                return found
        return path if len(actual) > len(expected) else None
    if isinstance(expected, list) and isinstance(actual, list):
        for index, value in enumerate(expected):
            if index >= len(actual):
                return (*path, index)
            found = first_difference(value, actual[index], (*path, index))
            if found is not None:
                return found
        return path if len(actual) > len(expected) else None
    return None if is_equal(expected, actual) else path


def is_equal(expected: Json, actual: Json) -> bool:
    if isinstance(expected, dict | list) or isinstance(actual, dict | list):
        return type(expected) is type(actual) and first_difference(expected, actual, ()) is None
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def unmatched(expected: list[Json], actual: list[Json]) -> tuple[list[int], list[Json]]:
    """Of two lists in any order: positions of the expected that did not come, and what came beside."""
    left = list(actual)
    missing = []
    for index, value in enumerate(expected):
        found = next((i for i, other in enumerate(left) if is_equal(value, other)), None)
        if found is None:
            missing.append(index)
        else:
            del left[found]
    return missing, left


def one_line(value: Json) -> str:
    if isinstance(value, str):
        return value if value.strip() == value and value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def lines_of(value: Json) -> list[str]:
    """As YAML would show it, quotes only where text would read as something else."""
    return list(_lines(value))


def _lines(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, entry in value.items():
            yield from _entry(f"{key}:", entry)
    elif isinstance(value, list) and value:
        for entry in value:
            yield from _entry("-", entry)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _entry(head: str, value: Json) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        lines = list(_lines(value))
        flow_text = json.dumps(value, ensure_ascii=False)
        if len(flow_text) <= 90:
            yield f"{head} {flow_text}"
            return
        yield head
        yield from (f"  {line}" for line in lines)
    else:
        yield f"{head} {json.dumps(value, ensure_ascii=False)}"
