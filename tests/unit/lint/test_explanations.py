"""Every problem is explained; its bad example has it and nothing else, the mended one has nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.rule_examples import laid_out, look_at
from orchestrator import verify
from orchestrator.definition.codes import CODES
from orchestrator.definition.explanations import Example, explain, find_code
from orchestrator.definition.finders import FINDERS, finders
from orchestrator.definition.problem import Problem

WITHOUT_EXAMPLE = {"ENG001", "REF016", "VER005"}
"""What has it changes with the release, or with the machine."""
CODES_SHOWN = sorted(set(CODES) - WITHOUT_EXAMPLE)


def problems_of(code: str, example: Example) -> list[Problem]:
    with laid_out(example):
        return look_at(code, example)


def codes(code: str, problems: list[Problem]) -> set[str]:
    """Without infos, which nobody sees who does not ask, unless they are what the example is about."""
    return {
        problem.code
        for problem in problems
        if problem.code == code or (problem.severity != "info" and problem.code not in WITHOUT_EXAMPLE)
    }


@pytest.mark.parametrize("code", CODES_SHOWN)
def test_the_bad_example_has_that_problem_and_no_other(code: str) -> None:
    about = explain()[code]
    assert about.bad is not None
    found = problems_of(code, about.bad)
    assert [problem.code for problem in found].count(code) == 1
    assert codes(code, found) == {code, *about.also}, [problem.concise() for problem in found]


@pytest.mark.parametrize("code", CODES_SHOWN)
def test_the_table_of_codes_says_how_bad_it_is_and_what_fix_it_has(code: str) -> None:
    example = explain()[code].bad
    assert example is not None
    found = next(each for each in problems_of(code, example) if each.code == code)
    fix = "" if found.fix is None else "safe" if found.fix.is_safe else "unsafe"
    assert found.severity == CODES[code].severity
    assert fix in ("", CODES[code].fix)


@pytest.mark.parametrize("code", CODES)
def test_every_code_says_why_it_matters_and_what_to_do(code: str) -> None:
    about = explain()[code]
    assert len(about.why) > 10
    assert len(about.fix) > 3
    assert (about.bad is None) == (about.good is None) == (code in WITHOUT_EXAMPLE)


def test_whatever_the_verifier_reports_is_said_to_be_found_by_it() -> None:
    """Or `lint` alone would call a suppression of it unused."""
    package = Path(verify.__file__).parent
    text = "".join(file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
    reported = set(re.findall(r'"([A-Z]{3}[0-9]{3})"', text))
    assert len(reported) > 10
    assert {code for code in reported if "verifier" not in finders(code)} == set()


@pytest.mark.parametrize("code", CODES)
def test_the_table_of_codes_says_who_finds_it(code: str) -> None:
    assert finders(code)
    assert finders(code) <= set(FINDERS)


@pytest.mark.parametrize("code", CODES_SHOWN)
def test_the_mended_example_has_none(code: str) -> None:
    example = explain()[code].good
    assert example is not None
    found = problems_of(code, example)
    assert codes(code, found) == set(), [problem.concise() for problem in found]


def test_a_code_is_found_by_code_and_by_name() -> None:
    assert find_code("sch001") == find_code("Unknown-Key") == "SCH001"
    assert find_code("SCH") is None


def test_an_explanation_says_what_why_and_what_to_do_and_shows_both_examples() -> None:
    text = explain()["EXP002"].as_text()
    assert text.startswith("EXP002 guard-in-braces: ")
    assert "\n\nerror; found by lint and every command that loads the flow; mended by lint --fix\n\n" in text
    assert "\n\nA guard is always an expression" in text
    assert '    - when: ${input == "Ada"}'.strip() in text
    assert "\n\nWhat to do: Leave the braces out" in text
    assert '- when: input == "Ada"' in text.split("Mended:")[1]
