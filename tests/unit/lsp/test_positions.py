"""Places of a text as editors count them and as we do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.definition.problem import Span
from orchestrator.lsp.positions import Positions

FACES = "a: 😀é x\nb: 2\n"


@pytest.mark.parametrize(("encoding", "unit"), [("utf-8", 10), ("utf-16", 7), ("utf-32", 6)])
def test_characters_count_as_the_encoding_says(encoding: str, unit: int) -> None:
    positions = Positions(FACES, encoding)
    assert positions.to_editor(1, 7) == (0, unit)
    assert positions.from_editor(0, unit) == (1, 7)


def test_a_place_within_a_character_is_the_next_one() -> None:
    assert Positions(FACES, "utf-16").from_editor(0, 4) == (1, 5)


def test_a_place_past_the_line_is_its_end() -> None:
    assert Positions(FACES).from_editor(0, 99) == (1, 8)
    assert Positions("a\r\nb").from_editor(0, 99) == (1, 2)


def test_a_place_past_the_text_is_its_end() -> None:
    assert Positions(FACES).from_editor(99, 0) == (3, 1)
    assert Positions(FACES).to_editor(99, 1) == (2, 0)
    assert Positions("").from_editor(0, 3) == (1, 1)


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029"])
def test_line_breaks_that_editors_do_not_know(mark: str) -> None:
    positions = Positions(f"a: 1{mark}b: 2\nc: 3")
    assert positions.to_editor(2, 1) == (0, 5)
    assert positions.to_editor(3, 1) == (1, 0)
    assert positions.from_editor(1, 0) == (3, 1)


def test_a_range_never_ends_before_it_begins() -> None:
    assert Positions(FACES).range_of(Span(1, 4, 1, 2)) == ((0, 3), (0, 3))


@given(st.text(st.sampled_from("aé😀\r\n\u2028 ")), st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_every_place_finds_back(text: str, encoding: str, data: st.DataObject) -> None:
    positions = Positions(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    line, column = positions.place(offset)
    assert positions.offset(line, column) == offset
    if text[max(offset - 1, 0) : offset + 1] != "\r\n":
        assert positions.editor_offset(*positions.to_editor(line, column)) == offset
