"""While the text is broken the last good symbols serve, at their new places; nothing is ever a traceback."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.definition.problem import Span
from orchestrator.lsp.actions import fix_all, quick_fixes
from orchestrator.lsp.completion import complete_at
from orchestrator.lsp.document import Document
from orchestrator.lsp.hover import hover_at
from orchestrator.lsp.navigation import find_definition, find_references
from orchestrator.lsp.outline import outline_of
from orchestrator.lsp.positions import Positions
from orchestrator.lsp.renaming import RenameRefused, find_renamed, rename

ROOT = Path(__file__).parents[3]
GOOD = """\
flow: F
channels:
  paid: string
start: A
steps:
  A:
    description: First.
    wait_for: {until: {channel: paid}}
    go_to: B
  B:
    graceful_complete: ${1 + 1}
"""
PATH = "f.flow.yaml"


def typed(text: str) -> Document:
    return Document(PATH, text, Document(PATH, GOOD))


BROKEN = GOOD.replace("start: A\n", "start: A\ntypes: [\n")


def test_hover_finds_lines_that_moved() -> None:
    document = typed(BROKEN)
    assert not document.is_readable
    found = hover_at(document, 7, 4)
    assert found is not None
    assert "First." in found.text
    assert found.span == Span(7, 3, 7, 4)


def test_definition_and_references_are_at_their_new_lines() -> None:
    document = typed(BROKEN)
    target = find_definition(document, 9, 34)
    assert target is not None
    assert target.span == Span(3, 3, 3, 7)
    assert [found.span.line for found in find_references(document, 3, 4)] == [3, 9]


def test_a_line_that_has_changed_has_no_names() -> None:
    document = typed(GOOD.replace("    go_to: B", "    go_to: [B"))
    assert not document.is_readable
    assert document.mention_at(9, 13) is None
    assert document.mention_at(6, 3) is not None


def test_a_good_text_after_a_broken_one_speaks_for_itself() -> None:
    document = Document(PATH, GOOD.replace("paid", "sent"), typed(BROKEN))
    assert document.is_readable
    assert document.mention_at(3, 4) == Document(PATH, GOOD.replace("paid", "sent")).mention_at(3, 4)


def test_a_text_that_never_was_good_has_nothing() -> None:
    document = Document(PATH, "a: [")
    assert document.table is None
    assert hover_at(document, 1, 1) is None
    assert find_references(document, 1, 1) == []
    assert outline_of(document) == []
    assert [problem.code for problem in document.problems] == ["YML001"]


def test_the_types_of_the_last_good_text_serve_too() -> None:
    text = GOOD.replace("    graceful_complete: ${1 + 1}", "    when: channels.\n   : [")
    offset = text.index("channels.\n") + len("channels.")
    found = complete_at(typed(text), offset)
    assert "paid" in [proposal.label for proposal in found.proposals]


PIECES = [
    "",
    "x",
    ": ",
    "- ",
    "{",
    "[",
    '"',
    "${",
    ".",
    "\n",
    "\n    ",
    "😀",
    "&a",
    "*a",
    "!",
    "|",
    "\t",
    "\x85",
    "\u2028",
]


@pytest.mark.parametrize("path", sorted((ROOT / "flows").glob("*.flow.yaml")), ids=lambda path: path.stem)
def test_no_text_makes_the_server_stumble(path: Path) -> None:
    chance = random.Random(path.name)
    text = path.read_text(encoding="utf-8")
    document = Document(str(path), text)
    for _ in range(25):
        start = chance.randrange(len(text) + 1)
        piece = chance.choice(PIECES)
        text = text[:start] + piece + text[start + chance.choice([0, 1, 3, 30]) :]
        document = Document(str(path), text, document)
        ask_everything(document, min(start + len(piece), len(text)))


def ask_everything(document: Document, offset: int) -> None:
    line, column = Positions(document.text).place(offset)
    hover_at(document, line, column)
    complete_at(document, offset)
    find_definition(document, line, column)
    find_references(document, line, column)
    outline_of(document)
    list(quick_fixes(document, Span(line, column, line, column)))
    with suppress(RenameRefused):
        rename(document, find_renamed(document, line, column), "Fresh_1")


def test_an_empty_text_offers_the_first_keys() -> None:
    for text in ("", "\n", "# just a comment\n"):
        found = complete_at(Document(PATH, text), len(text))
        assert "flow" in [proposal.label for proposal in found.proposals]


def test_nothing_to_fix_is_nothing_to_offer() -> None:
    assert fix_all(Document(PATH, GOOD)) is None
