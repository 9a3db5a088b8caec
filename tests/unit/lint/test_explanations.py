"""Every problem is explained; its bad example has it and nothing else, the mended one has nothing."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from orchestrator.definition.codes import CODES, FINDERS, finders
from orchestrator.definition.explanations import Example, explain, find_code
from orchestrator.definition.problem import Problem
from orchestrator.lint.runner import lint_paths
from orchestrator.simulate.rehearsal import read_rehearsals

WITHOUT_EXAMPLE = {"ENG001"}
"""What has it changes with the release."""
CODES_SHOWN = sorted(set(CODES) - WITHOUT_EXAMPLE)
VERIFIED = {code for code in CODES_SHOWN if finders(code) == {"verifier"}}
"""Found by `verify` alone."""


def problems_of(example: Example, place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    monkeypatch.chdir(place)
    for name in example.files:
        (place / name).write_bytes(example.content(name))
    if example.name.endswith(".rehearsal.yaml"):
        return list(read_rehearsals(Path(example.name)).problems)
    modules = [name.removesuffix(".py") for name in example.files if name.endswith(".py")]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for module in modules:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()
    try:
        return lint_paths([Path()], has_handlers=bool(modules))
    finally:
        for module in modules:
            sys.modules.pop(module, None)


def codes(problems: list[Problem]) -> set[str]:
    """Without what this release does not execute yet."""
    return {problem.code for problem in problems} - WITHOUT_EXAMPLE


@pytest.mark.parametrize("code", sorted(set(CODES_SHOWN) - VERIFIED))
def test_the_bad_example_has_that_problem_and_no_other(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = explain()[code]
    assert about.bad is not None
    found = problems_of(about.bad, tmp_path, monkeypatch)
    assert [problem.code for problem in found].count(code) == 1
    assert codes(found) == {code, *about.also}, [problem.concise() for problem in found]


@pytest.mark.parametrize("code", sorted(set(CODES_SHOWN) - VERIFIED))
def test_the_table_of_codes_says_how_bad_it_is_and_what_fix_it_has(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = explain()[code].bad
    assert example is not None
    found = next(each for each in problems_of(example, tmp_path, monkeypatch) if each.code == code)
    fix = "" if found.fix is None else "safe" if found.fix.is_safe else "unsafe"
    assert found.severity == CODES[code].severity
    assert fix in ("", CODES[code].fix)


@pytest.mark.parametrize("code", CODES)
def test_every_code_says_why_it_matters_and_what_to_do(code: str) -> None:
    about = explain()[code]
    assert len(about.why) > 20
    assert len(about.fix) > 3
    assert (about.bad is None) == (about.good is None) == (code in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("code", CODES)
def test_the_table_of_codes_says_who_finds_it(code: str) -> None:
    assert finders(code)
    assert finders(code) <= set(FINDERS)


@pytest.mark.parametrize("code", sorted(set(CODES_SHOWN) - VERIFIED))
def test_the_mended_example_has_none(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = explain()[code].good
    assert example is not None
    found = problems_of(example, tmp_path, monkeypatch)
    assert codes(found) == set(), [problem.concise() for problem in found]


def test_a_code_is_found_by_code_and_by_name() -> None:
    assert find_code("sch001") == find_code("Unknown-Key") == "SCH001"
    assert find_code("SCH") is None


def test_an_explanation_says_what_why_and_what_to_do_and_shows_both_examples() -> None:
    text = explain()["EXP002"].as_text()
    assert text.startswith("EXP002 guard-in-braces: ")
    assert "\n\nA guard is always an expression" in text
    assert '    - when: ${input == "Ada"}'.strip() in text
    assert "\n\nWhat to do: Leave the braces out" in text
    assert '- when: input == "Ada"' in text.split("Mended:")[1]
