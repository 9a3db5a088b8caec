"""Definitions in tests, with the place of each expected problem marked: ⟦here⟧."""

from __future__ import annotations

import re
import textwrap

from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem, Span


def unmark(marked: str) -> tuple[str, list[Span]]:
    """The text without its marks, and the spans that they marked, in order."""
    text = ""
    starts: list[tuple[int, int]] = []
    spans: list[Span] = []
    for piece in re.split("([⟦⟧])", marked):
        line = text.count("\n") + 1
        column = len(text) - (text.rfind("\n") + 1) + 1
        if piece == "⟦":
            starts.append((line, column))
        elif piece == "⟧":
            spans.append(Span(*starts.pop(), line, column))
        else:
            text += piece
    return text, sorted(spans)


def problems_of(text: str) -> list[Problem]:
    _, problems = parse(textwrap.dedent(text), "x.flow.yaml")
    return problems


def assert_problems(marked: str, *expected: str) -> list[Problem]:
    """Exactly these codes, in file order, each exactly at its mark."""
    text, spans = unmark(textwrap.dedent(marked).lstrip("\n"))
    _, problems = parse(text, "x.flow.yaml")
    shown = "\n".join(f"{problem.concise()} | {problem.help}" for problem in problems)
    assert [problem.code for problem in problems] == list(expected), shown or "no problems"
    assert [problem.span for problem in problems] == spans, shown
    assert all(problem.message and problem.path == "x.flow.yaml" for problem in problems)
    return problems
