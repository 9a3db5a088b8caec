"""Widths and line breaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.render.metrics import shorten, text_width, wrap


@given(st.text(alphabet="abc XYZ漢字かな한글_.&", max_size=200), st.integers(60, 300))
def test_lines_fit_and_keep_the_text(text: str, width: int) -> None:
    lines = wrap(text, width, 11)
    assert all(text_width(line, 11) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_long_text_ends_in_an_ellipsis() -> None:
    lines = wrap("word " * 60, 200, 11, max_lines=2)
    assert len(lines) == 2
    assert lines[1].endswith("…")


def test_japanese_breaks_between_characters() -> None:
    assert wrap("契約の編集を待つ", 44, 11) == ["契約の編", "集を待つ"]


@pytest.mark.parametrize("text", ["short", "a much longer text than fits in there"])
def test_shortened_text_fits(text: str) -> None:
    assert text_width(shorten(text, 80, 11), 11) <= 80


def test_a_long_name_breaks_between_its_words() -> None:
    assert wrap("CollectSettlementInstructionsFromAllSubsidiaries", 200, 11) == [
        "CollectSettlementInstructionsFromAll",
        "Subsidiaries",
    ]
    assert wrap("collect_settlement_instructions_from", 150, 11) == [
        "collect_settlement_",
        "instructions_from",
    ]
