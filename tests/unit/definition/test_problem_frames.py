"""Problems as text."""

from __future__ import annotations

import textwrap

from orchestrator.definition.codes import CODES
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import LabelledSpan, Problem, Span
from orchestrator.definition.source import Source


def frame(text: str, span: Span, *, spans: tuple[LabelledSpan, ...] = (), help: str = "") -> str:
    problem = Problem("SCH001", "unknown key", "f.flow.yaml", span, help=help, spans=spans)
    return problem.frame(Source("f.flow.yaml", text))


def shown(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def test_frame_shows_the_line_with_carets_and_the_help() -> None:
    text = "flow: F\nsteps:\n  A: {ded_end: true}\n"
    assert frame(text, Span(3, 7, 3, 14), help="did you mean `dead_end`?") == shown(
        """
        error[SCH001] unknown-key: unknown key
         --> f.flow.yaml:3:7
          |
        3 |   A: {ded_end: true}
          |       ^^^^^^^
          = help: did you mean `dead_end`?
        """
    )


def test_wide_characters_take_two_cells() -> None:
    lines = frame("日本: x", Span(1, 5, 1, 6)).splitlines()
    assert lines[-1] == "  |       ^"
    lines = frame("a: 日本", Span(1, 4, 1, 6)).splitlines()
    assert lines[-1] == "  |    ^^^^"
    lines = frame("e\u0301: x", Span(1, 5, 1, 6)).splitlines()
    assert lines[-1] == "  |    ^"


def test_a_tab_counts_as_one_cell() -> None:
    assert frame("a\t: x", Span(1, 2, 1, 3)).splitlines()[-2:] == ["1 | a : x", "  |  ^"]


def test_several_lines_are_underlined_without_their_indentation_and_long_spans_are_cut() -> None:
    text = "".join(f"  line{number}\n" for number in range(1, 10))
    assert frame(text, Span(1, 3, 2, 6)) == shown(
        """
        error[SCH001] unknown-key: unknown key
         --> f.flow.yaml:1:3
          |
        1 |   line1
          |   ^^^^^
        2 |   line2
          |   ^^^
        """
    )
    assert frame(text, Span(1, 3, 9, 6)).count("^^^^^") == 4


def test_labelled_spans_are_shown_in_line_order_with_gaps_marked() -> None:
    text = "a: 1\nb: 2\nc: 3\nd: 4\na: 5\n"
    label = LabelledSpan("f.flow.yaml", Span(1, 1, 1, 2), "first here")
    assert frame(text, Span(5, 1, 5, 2), spans=(label,)) == shown(
        """
        error[SCH001] unknown-key: unknown key
         --> f.flow.yaml:5:1
          |
        1 | a: 1
          | - first here
        ...
        5 | a: 5
          | ^
        """
    )


def test_a_place_past_the_end_still_has_a_frame() -> None:
    assert "f.flow.yaml:9:1" in frame("a: 1", Span(9, 1, 9, 2))
    assert frame("a: 1", Span(1, 50, 1, 60)).splitlines()[-1] == "  |     ^"


def test_colour_is_asked_for() -> None:
    problem = Problem("SCH001", "m", "f", Span(1, 1, 1, 2))
    assert "\x1b" not in problem.frame(Source("f", "a: 1"))
    assert problem.frame(Source("f", "a: 1"), has_colour=True).startswith("\x1b[1;31merror[SCH001]\x1b[0m")


def test_concise_line() -> None:
    _, (problem,) = parse("flow: F\nnope: 1\n", "dir/f.flow.yaml")
    assert problem.concise() == "dir/f.flow.yaml:2:1: SCH001 unknown key `nope` in the flow"


def test_codes_have_unique_names_and_a_sentence() -> None:
    names = [code.name for code in CODES.values()]
    assert len(set(names)) == len(names)
    assert all(code.explanation.endswith(".") and len(code.explanation) > 20 for code in CODES.values())
