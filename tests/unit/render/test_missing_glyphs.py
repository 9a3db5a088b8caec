"""A PNG with letters that no font has says so; one of which all can be drawn says nothing."""

from __future__ import annotations

import pytest

from orchestrator.render.fonts import cjk_file
from orchestrator.render.image import render, render_difference
from tests.support.drawn_flows import CJK, REVIEW, read

IN_NO_FONT = '"\U0010fff0"'
FLOW = (
    "flow: F\ndescription: {0}\nstart: A\nsteps:\n  A:\n    description: {0}\n    graceful_complete: done\n"
)


def test_letters_that_no_font_has_are_told() -> None:
    flow = read(FLOW.format(IN_NO_FONT))
    told: list[str] = []
    render(flow, "png", tell=told.append)
    render_difference(flow, flow, "png", tell=told.append)
    assert len(told) == 2
    for sentence in told:
        assert "no font here has \U0010fff0" in sentence
        assert "pip install 'orchestrator[cjk]'" in sentence


@pytest.mark.parametrize("text", [REVIEW, FLOW.format('"Ж → é ≤ ✓"')], ids=["latin", "other signs"])
def test_letters_of_inter_are_not_told(text: str) -> None:
    told: list[str] = []
    render(read(text), "png", tell=told.append)
    assert told == []


@pytest.mark.skipif(cjk_file() is None, reason="needs the extra cjk")
def test_nothing_is_told_with_the_extra() -> None:
    told: list[str] = []
    render(read(CJK), "png", tell=told.append)
    assert told == []


@pytest.mark.parametrize("format", ["svg", "dot", "mermaid"])
def test_formats_that_leave_fonts_to_others_say_nothing(format: str) -> None:
    told: list[str] = []
    render(read(FLOW.format(IN_NO_FONT)), format, tell=told.append)  # type: ignore[arg-type]
    assert told == []
