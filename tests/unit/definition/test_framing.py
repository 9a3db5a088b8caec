"""Frames with several places: far away, on one line, over several lines, in another file; traces; colours."""

from __future__ import annotations

import textwrap

from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Edit, Fix, LabelledSpan, Problem, Span, TraceStep
from orchestrator.definition.source import Source

FLOW = """\
flow: Edit
channels:
  token: any
start: Enter
steps:
  Enter:
    description: Take the token.
    # it is given back by Save
    wait_for: {until: {channel: token, for: 1}}
    go_to: Save
  Other:
    dead_end: true
  Save:
    publish: {token: 1, other: 2}
    dead_end: true
"""
FILE = "edit.flow.yaml"


def source(text: str = FLOW, path: str = FILE) -> Source:
    return read_document(text, path)[0]


def span_of(text: str, piece: str, *, within: str | None = None) -> Span:
    """Of the first place of `piece` (the first one in the line `within`)."""
    for number, line in enumerate(text.splitlines(), start=1):
        if piece in line and (within is None or within in line):
            column = line.index(piece) + 1
            return Span(number, column, number, column + len(piece))
    raise LookupError(piece)


def leak(**more: object) -> Problem:
    return Problem("TOK002", "`Save` keeps `token`", FILE, span_of(FLOW, "publish"), **more)  # type: ignore[arg-type]


def shown(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def body(problem: Problem, *others: Source) -> str:
    """Without the first line."""
    return problem.frame(source(), {each.path: each for each in others}).partition("\n")[2]


def test_places_far_apart_are_shown_below_the_names_of_their_steps() -> None:
    taken = LabelledSpan(FILE, span_of(FLOW, "{channel: token, for: 1}"), "token taken here")
    assert body(leak(spans=(taken,))) == shown(
        """
          --> edit.flow.yaml:14:5
           |
         6 |   Enter:
        ...
         9 |     wait_for: {until: {channel: token, for: 1}}
           |                       ------------------------ token taken here
        ...
        13 |   Save:
        14 |     publish: {token: 1, other: 2}
           |     ^^^^^^^
        """
    ).replace("\n        ", "\n")


def test_one_line_between_two_places_is_shown() -> None:
    label = LabelledSpan(FILE, Span(1, 1, 1, 5), "first here")
    problem = Problem("YML002", "twice", FILE, Span(3, 1, 3, 5), spans=(label,))
    assert problem.frame(source("flow: A\nx-a: 1\nflow: B\n")).splitlines()[3:] == [
        "1 | flow: A",
        "  | ---- first here",
        "2 | x-a: 1",
        "3 | flow: B",
        "  | ^^^^",
    ]


def test_places_on_one_line_have_an_underline_each() -> None:
    spans = (
        LabelledSpan(FILE, span_of(FLOW, "token: 1"), "one"),
        LabelledSpan(FILE, span_of(FLOW, "other: 2"), "two"),
    )
    assert body(leak(spans=spans)).splitlines()[-4:] == [
        "14 |     publish: {token: 1, other: 2}",
        "   |     ^^^^^^^",
        "   |               -------- one",
        "   |                         -------- two",
    ]


def test_a_place_over_several_lines_has_its_label_at_its_last_line() -> None:
    span = Span(7, 5, 10, 16)
    lines = body(leak(spans=(LabelledSpan(FILE, span, "all of this"),))).splitlines()
    assert lines[lines.index("10 |     go_to: Save") + 1] == "   |     ----------- all of this"
    assert sum("all of this" in line for line in lines) == 1


def test_a_place_in_another_file_is_shown_from_that_file() -> None:
    other = source("flow: Child\nstart: A\n", "child.flow.yaml")
    problem = leak(spans=(LabelledSpan("child.flow.yaml", Span(1, 7, 1, 12), "declared here"),))
    assert body(problem, other).splitlines()[-4:] == [
        "  ::: child.flow.yaml:1:7",
        "   |",
        " 1 | flow: Child",
        "   |       ----- declared here",
    ]


def test_a_place_in_a_file_that_cannot_be_read_is_still_named() -> None:
    problem = leak(spans=(LabelledSpan("gone.py", Span(1, 7, 1, 12), "declared here"),))
    assert body(problem).splitlines()[-2:] == ["  ::: gone.py:1:7", "   | declared here"]


def test_a_trace_is_numbered_lines_and_notes_follow_it() -> None:
    trace = (
        TraceStep(span_of(FLOW, "Enter"), "starts Enter x3", "Start-1"),
        *(TraceStep(span_of(FLOW, "Enter"), "token 1 -> 0", f"Enter-{number}") for number in range(1, 10)),
        TraceStep(span_of(FLOW, "Save"), "dead_end   <-- token lost"),
    )
    notes = ("stuck: Enter-2 waits for token\n       Enter-3 too", "replay: orchestrator rehearse x.yaml")
    assert body(leak(trace=trace, notes=notes, help="publish it")).splitlines()[4:] == [
        "   = trace:",
        "        1 Start-1  starts Enter x3",
        *(f"        {number} Enter-{number - 1}  token 1 -> 0" for number in range(2, 10)),
        "       10 Enter-9  token 1 -> 0",
        "       11          dead_end   <-- token lost",
        "   = stuck: Enter-2 waits for token",
        "            Enter-3 too",
        "   = replay: orchestrator rehearse x.yaml",
        "   = help: publish it",
    ]


def test_the_fix_says_what_it_does_and_how_it_is_asked_for() -> None:
    def last_line(is_safe: bool) -> str:
        fix = Fix("add `token`", (Edit(Span(1, 1, 1, 1), "x"),), is_safe=is_safe)
        return body(leak(fix=fix)).splitlines()[-1]

    assert last_line(True) == "   = fix: add `token` [--fix]"
    assert last_line(False) == "   = fix: add `token` [--fix --unsafe-fixes]"


def test_names_from_the_file_cannot_paint_the_terminal_or_break_lines() -> None:
    problem = Problem("SCH001", "unknown key `\x1b[31m\nred`", FILE, Span(1, 1, 1, 2), help="\x07 a\tb")
    frame = problem.frame(source("flow: F\n"))
    assert frame.splitlines()[0] == "error[SCH001] unknown-key: unknown key `?[31m red`"
    assert frame.splitlines()[-1] == "  = help: ? a b"
    assert len(problem.concise().splitlines()) == 1


def test_colours_mark_the_severity_and_change_nothing_else() -> None:
    import re

    taken = LabelledSpan(FILE, span_of(FLOW, "{channel: token, for: 1}"), "token taken here")
    problem = leak(spans=(taken,), severity="warning", help="publish it")
    painted = problem.frame(source(), has_colour=True)
    assert painted.startswith("\x1b[1;33mwarning[TOK002]\x1b[0m ")
    assert "\x1b[1;33m    ^^^^^^^\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == problem.frame(source())
