"""What the editor offers to mend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.definition.problem import Edit, Problem, Span
from orchestrator.lint.fixing import fix_text
from orchestrator.lsp.document import Document


class QuickFix(NamedTuple):
    title: str
    problem: Problem
    edits: tuple[Edit, ...]
    is_preferred: bool


def quick_fixes(document: Document, span: Span) -> Iterator[QuickFix]:
    """For the problems that touch the span; unsafe ones say so."""
    for problem in document.problems:
        fix = problem.fix
        if fix is not None and _touch(problem.span, span):
            title = fix.message if fix.is_safe else f"{fix.message} (unsafe: look at the result)"
            yield QuickFix(title[:1].upper() + title[1:], problem, fix.edits, fix.is_safe)


def fix_all(document: Document) -> str | None:
    """The text with all safe fixes; None where there are none."""
    if not any(problem.fix is not None and problem.fix.is_safe for problem in document.problems):
        return None

    def is_wanted(problem: Problem) -> bool:
        is_safe = problem.fix is not None and problem.fix.is_safe
        return is_safe and bool(document.chosen([problem]))

    fixed = fix_text(document.text, document.path, is_wanted)
    return fixed.after if fixed.is_changed else None


def _touch(one: Span, other: Span) -> bool:
    return (one.line, one.column) <= (other.end_line, other.end_column) and (other.line, other.column) <= (
        one.end_line,
        one.end_column,
    )
