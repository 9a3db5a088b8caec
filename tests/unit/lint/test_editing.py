"""Entries are taken out of a text, and added to it, so that everything else stays as it was."""

from __future__ import annotations

import pytest

from orchestrator.definition.model import Path
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Fix
from orchestrator.lint.editing import added_item, removal
from orchestrator.lint.fixing import apply_fixes


def without(text: str, path: Path) -> str | None:
    source, _, problems = read_document(text, "x.flow.yaml")
    assert not problems
    edit = removal(source, path)
    return None if edit is None else apply_fixes(text, [Fix("", (edit,), is_safe=True)])


def extended(text: str, path: Path) -> str | None:
    source, _, _ = read_document(text, "x.flow.yaml")
    edit = added_item(source, path, "{new: 1}")
    return None if edit is None else apply_fixes(text, [Fix("", (edit,), is_safe=True)])


BLOCK = """\
# head
a:
  b: 1      # one
  # between
  c:
    d: 2
    e: [3]

  f: |
    text

g: 7
"""


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        (("a", "b"), "  b: 1      # one\n"),
        (("a", "c"), "  c:\n    d: 2\n    e: [3]\n"),
        (("a", "c", "e", 0), "    e: [3]\n"),
        (("a", "f"), "  f: |\n    text\n"),
        (("g",), "g: 7\n"),
    ],
)
def test_an_entry_of_a_block_mapping_goes_with_its_lines(path: Path, gone: str) -> None:
    assert without(BLOCK, path) == BLOCK.replace(gone, "")


FLOW = "a: {b: 1, c: [1, 2, 3], d: }\ne: 1\n"


@pytest.mark.parametrize(
    ("path", "after"),
    [
        (("a", "b"), "a: {c: [1, 2, 3], d: }\ne: 1\n"),
        (("a", "c"), "a: {b: 1, d: }\ne: 1\n"),
        (("a", "d"), "a: {b: 1, c: [1, 2, 3]}\ne: 1\n"),
        (("a", "c", 0), "a: {b: 1, c: [2, 3], d: }\ne: 1\n"),
        (("a", "c", 1), "a: {b: 1, c: [1, 3], d: }\ne: 1\n"),
        (("a", "c", 2), "a: {b: 1, c: [1, 2], d: }\ne: 1\n"),
    ],
)
def test_an_entry_in_braces_goes_with_its_comma(path: Path, after: str) -> None:
    assert without(FLOW, path) == after


ITEMS = "a:\n  - b: 1\n    c: 2\n  - {d: 3}\n  - e: 4\n"


@pytest.mark.parametrize(
    ("path", "after"),
    [
        (("a", 0), "a:\n  - {d: 3}\n  - e: 4\n"),
        (("a", 1), "a:\n  - b: 1\n    c: 2\n  - e: 4\n"),
        (("a", 0, "b"), "a:\n  - c: 2\n  - {d: 3}\n  - e: 4\n"),
        (("a", 0, "c"), "a:\n  - b: 1\n  - {d: 3}\n  - e: 4\n"),
        (("a", 1, "d"), "a:\n  - b: 1\n    c: 2\n  - e: 4\n"),
        (("a", 2, "e"), "a:\n  - b: 1\n    c: 2\n  - {d: 3}\n"),
    ],
)
def test_items_of_a_list_and_keys_behind_its_dash(path: Path, after: str) -> None:
    assert without(ITEMS, path) == after


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &x {b: 1, c: 2}\nd: *x\n", ("d", "b")),
        ("a: &x {b: 1, c: 2}\nd: *x\n", ("a",)),
        ("a: 1\n", ("b",)),
        ("a: 1\n", ("a",)),
        ("a: 1\n", ()),
    ],
)
def test_what_stands_behind_an_alias_or_is_all_there_is_stays(text: str, path: Path) -> None:
    assert without(text, path) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a: [1, 2]  # why\n", "a: [1, 2, {new: 1}]  # why\n"),
        ("a:\n  - 1\n  - b: 2  # why\nc: 3\n", "a:\n  - 1\n  - b: 2  # why\n  - {new: 1}\nc: 3\n"),
        ("a:\n- 1", "a:\n- 1\n- {new: 1}"),
        ("a: []\n", None),
        ("a: 1\n", None),
    ],
)
def test_an_item_is_added_behind_the_last_one(text: str, after: str | None) -> None:
    assert extended(text, ("a",)) == after
