"""The table of mutations fits the core, the tests and the page; the mutations themselves take a minute."""

from __future__ import annotations

import ast

import pytest

from docs.conformance import ROOT, read_marks
from tests.mutation.page import PAGE, page
from tests.mutation.table import MUTATIONS, Mutation


def test_there_are_twenty_at_least_no_two_alike() -> None:
    assert len({(mutation.file, mutation.old) for mutation in MUTATIONS}) == len(MUTATIONS) >= 20


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.mistake)
def test_a_mutation_changes_one_place_of_valid_code(mutation: Mutation) -> None:
    text = (ROOT / "orchestrator" / "core" / mutation.file).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1
    ast.parse(text.replace(mutation.old, mutation.new))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.mistake)
def test_its_tests_carry_its_rules(mutation: Mutation) -> None:
    marks = read_marks()
    carrying = {test for rule in mutation.rules for test in marks[rule]}
    assert {f"tests/unit/core/{test}" for test in mutation.tests} <= carrying


def test_the_page_shows_the_table() -> None:
    """If not: python -m tests.mutation"""
    assert PAGE.read_text(encoding="utf-8") == page()
