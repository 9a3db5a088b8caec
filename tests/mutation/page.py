"""docs/explanation/mutations.md: what was broken on purpose, and who noticed."""

from __future__ import annotations

from pathlib import Path

from tests.mutation.table import MUTATIONS, Mutation

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "mutations.md"
HEAD = """<!-- Written by `python -m tests.mutation` when it has killed them all. -->

# Mutations of the core

A test that carries a rule is worth something if it fails when the rule is broken. `python -m tests.mutation`
breaks the core in {count} places, one at a time and in a copy, and runs the tests named here: every one of
them fails. Where one goes on passing, the mutation has survived and the command fails.

| rule | in orchestrator/core | the mistake | noticed by |
|---|---|---|---|
"""


def write_page() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    return HEAD.format(count=len(MUTATIONS)) + "".join(f"{_row(mutation)}\n" for mutation in MUTATIONS)


def _row(mutation: Mutation) -> str:
    rules = ", ".join(map(str, mutation.rules))
    tests = "<br>".join(_link(test) for test in mutation.tests)
    return f"| {rules} | {mutation.file} | {mutation.mistake} | {tests} |"


def _link(test: str) -> str:
    file, _, name = test.partition("::")
    return f"[{name}](../../tests/unit/core/{file})"
