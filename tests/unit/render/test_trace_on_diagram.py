"""A trace on a diagram: red numbered arrows and wires, the events told below."""

from __future__ import annotations

import re

import pytest

from orchestrator.definition.model import Flow
from orchestrator.render.content import compose
from orchestrator.render.image import render
from orchestrator.render.overlay import RunOverlay, Trace, TraceMark
from orchestrator.render.paint import paint
from orchestrator.render.shapes import Group, Label, Shape
from orchestrator.render.style import DEFAULT_LAYERS
from tests.support.play import flow_of

FLOW = flow_of("""
    flow: Pictured
    channels: {token: string, go: {type: string, external: true}}
    start: Begin
    steps:
      Begin: {publish: {token: t}, go_to_many: [Work, Rest]}
      Work:
        wait_for: {until: {channel: token}}
        execute: work
        on_failure: Rest
        decide:
          - {when: result == 1, dead_end: true}
          - {go_to: Work}
      Rest: {wait_for: {until: {channel: go}}, graceful_complete: }
    rpcs:
      push: {publish: {token: t}}
    """)


def mark(number: int, card: str, port: str, targets: str = "", rails: str = "") -> TraceMark:
    return TraceMark(
        number,
        f"thread-{number}",
        f"text of {number}",
        card,
        port,
        frozenset(f"step:{name}" for name in targets.split()),
        frozenset(f"channel:{name}" for name in rails.split()),
    )


def groups(flow: Flow, *marks: TraceMark) -> dict[str, Group]:
    """The parts of the picture that belong to the trace, by id."""
    overlay = RunOverlay(trace=Trace("the title", marks, ("a note",)))
    drawing = paint(compose(flow, DEFAULT_LAYERS, overlay), "light", "TB", False)
    return {
        shape.id: shape
        for shape in drawing.shapes
        if isinstance(shape, Group) and shape.id.startswith("trace")
    }


def texts(shape: Shape) -> list[str]:
    if isinstance(shape, Label):
        return [shape.text]
    return [text for child in shape.children for text in texts(child)] if isinstance(shape, Group) else []


def css(group: Group) -> list[str]:
    return [child.css for child in group.children if isinstance(child, Group)]


def test_a_decision_colours_the_arrows_to_what_it_starts_and_the_wires_of_what_it_publishes() -> None:
    found = groups(FLOW, mark(1, "step:Begin", "d1", "Work", "token"))
    assert sorted(css(found["trace"])) == ["trace-link", "trace-wire"]
    assert texts(found["trace-numbers"]) == ["1"]


def test_each_arrow_of_a_fork_has_the_number() -> None:
    found = groups(FLOW, mark(1, "step:Begin", "d1", "Work Rest"))
    assert texts(found["trace-numbers"]) == ["1", "1"]


@pytest.mark.parametrize(
    ("card", "port", "rails", "lines"),
    [
        ("step:Work", "w", "token", ["trace-wire"]),
        ("step:Work", "f", "", ["trace-wire"]),
        ("step:Work", "d1", "", []),
        ("channel:go", "", "go", []),
        ("rpc:push", "d1", "token", ["trace-wire"]),
        ("rpc:push", "in", "", []),
    ],
)
def test_what_starts_nothing_has_its_number_at_its_place(
    card: str, port: str, rails: str, lines: list[str]
) -> None:
    found = groups(FLOW, mark(7, card, port, "", rails))
    assert css(found["trace"]) == lines
    assert texts(found["trace-numbers"]) == ["7"]


def test_events_at_one_place_share_a_badge() -> None:
    at_wait = [mark(number, "step:Work", "w") for number in (2, 5)]
    assert texts(groups(FLOW, *at_wait)["trace-numbers"]) == ["2, 5"]
    many = [mark(number, "step:Work", "w") for number in range(1, 8)]
    assert texts(groups(FLOW, *many)["trace-numbers"]) == ["1, …, 7"]


def test_what_has_no_place_is_told_all_the_same() -> None:
    found = groups(FLOW, mark(3, "", ""))
    assert texts(found["trace-numbers"]) == []
    assert texts(found["trace-events"]) == ["the title", "3", "thread-3", "text of 3", "a note"]


def test_long_texts_go_on_in_the_next_line_inside_the_picture() -> None:
    long = TraceMark(1, "someone-1", "word " * 80, "step:Work", "w")
    overlay = RunOverlay(trace=Trace("title", (long,)))
    picture = render(FLOW, "svg", overlay=overlay).decode()
    lines = re.findall(r"word word[^<]*", picture)
    assert len(lines) > 1
    width = float(re.search(r'width="([\d.]+)"', picture)[1])  # type: ignore[index]
    box = re.search(r'id="trace-events".*?<rect x="([\d.-]+)" y="[\d.-]+" width="([\d.]+)"', picture, re.S)
    assert box is not None and float(box[2]) < width


def test_without_a_trace_nothing_of_it_is_drawn() -> None:
    assert b"trace" not in render(FLOW, "svg", overlay=RunOverlay())
    assert render(FLOW, "png", overlay=RunOverlay(trace=Trace("t", (mark(1, "step:Work", "w"),)))).startswith(
        b"\x89PNG"
    )
