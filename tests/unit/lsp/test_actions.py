"""Fixes that the editor offers."""

from __future__ import annotations

from orchestrator.definition.problem import Span
from orchestrator.lsp.actions import fix_all, quick_fixes
from orchestrator.lsp.document import Document

TEXT = """\
flow: F
start: A
steps:
  A:
    when: ${1 < 2}   # kept
    go_to: Bee
  Been:
    dead_end: true
"""


def document(text: str = TEXT) -> Document:
    return Document("f.flow.yaml", text)


def test_a_safe_fix_is_the_preferred_one() -> None:
    (fix,) = quick_fixes(document(), Span(5, 12, 5, 12))
    assert fix.title == "Remove the braces"
    assert fix.is_preferred
    assert [edit.text for edit in fix.edits] == ["1 < 2"]


def test_an_unsafe_fix_says_so() -> None:
    (fix,) = quick_fixes(document(), Span(6, 12, 6, 12))
    assert fix.title == "Rename `Bee` to `Been` (unsafe: look at the result)"
    assert not fix.is_preferred


def test_fixes_of_other_places_are_not_offered() -> None:
    assert list(quick_fixes(document(), Span(8, 5, 8, 5))) == []


def test_fixes_of_a_selection_are_all_offered() -> None:
    assert len(list(quick_fixes(document(), Span(1, 1, 9, 1)))) == 2


def test_fix_all_does_what_is_safe_and_keeps_the_rest() -> None:
    assert fix_all(document()) == TEXT.replace("${1 < 2}", "1 < 2")
    assert fix_all(document(TEXT.replace("${1 < 2}", "1 < 2"))) is None
