"""`# lint: ignore[CODE]`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from orchestrator.definition.codes import CODES, Code
from orchestrator.definition.problem import Problem, Span
from orchestrator.lint.fixing import fix_text
from orchestrator.lint.runner import lint_paths, lint_text
from orchestrator.lint.suppression import UNUSED, WITHOUT_REASON, not_looked_for, suppress


def found(text: str) -> list[str]:
    """Most suppressions here say no reason, which is not the point of the tests."""
    problems = lint_text(text, "x.flow.yaml")
    return [f"{p.span.line}:{p.span.column} {p.code}" for p in problems if p.code != WITHOUT_REASON]


@pytest.mark.parametrize(
    "text",
    [
        "flow: A\ntimeout: 1 hour  # lint: ignore[SCH004] it is said so\n",
        "flow: A\ntimeout: 1 hour #lint:ignore[sch004]\n",
        "flow: A\ntimeout: 1 hour  # lint: ignore[bad-duration]\n",
        "flow: A\n# lint: ignore[SCH004] it is said so\ntimeout: 1 hour\n",
        "flow: A\n# lint: ignore[SCH004]\n# more\n\ntimeout: 1 hour\n",
        "# lint: ignore-file[SCH004, SCH001]\nflow: A\ntimeout: 1 hour\nnope: 1\n",
        "flow: A\ntimeout: {after: 1 hour, nope: 1}  # lint: ignore[SCH004, SCH001]\n",
    ],
)
def test_a_problem_is_suppressed_where_its_code_is_named(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "flow: A\ntimeout: 1 hour\n# lint: ignore[SCH004]\nx-a: 1\n",
        "flow: A  # lint: ignore[SCH004]\ntimeout: 1 hour\n",
        "flow: A\ntimeout: 1 hour  # lint: ignore[SCH003]\n",
        'flow: A\nx-a: "# lint: ignore-file[SCH004]"\ntimeout: 1 hour\n',
        "flow: A\nx-a: |\n  # lint: ignore-file[SCH004]\ntimeout: 1 hour\n",
    ],
)
def test_and_only_there(text: str) -> None:
    assert [each.partition(" ")[2] for each in found(text)] == ["SCH004"]


def test_a_comment_after_the_head_of_a_block_is_one() -> None:
    assert found("flow: A\ntimeout: |  # lint: ignore[SCH004]\n  1 hour\n") == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("lint: ignore[SCH004]", "there is no `SCH004` in line 2 to suppress"),
        ("lint: ignore-file[SCH004]", "there is no `SCH004` in this file to suppress"),
        ("lint: ignore[VAL999]", "there is no problem `VAL999`"),
        ("lint: ignore[REF001]", "`REF001` cannot be suppressed"),
        ("lint: ignore[syntax-error]", "`syntax-error` cannot be suppressed"),
        ("lint: ignore", "a suppression names its codes"),
        ("lint: ignore[]", "a suppression names its codes"),
    ],
)
def test_a_suppression_of_nothing_is_a_warning(comment: str, message: str) -> None:
    (problem,) = lint_text(f"flow: A\nx-a: 1  # {comment} why\n", "x.flow.yaml")
    assert (problem.code, problem.severity, problem.message) == (UNUSED, "warning", message)
    assert problem.span.line == 2


def test_unknown_names_and_the_text_of_the_file_are_never_suppressed() -> None:
    assert found("# lint: ignore-file[REF001, YML002]\nflow: A\nflow: B\nstart: C\n") == [
        "3:1 YML002",
        "4:8 REF001",
    ]


def test_an_unused_suppression_is_not_spoken_of_while_errors_may_hide_its_use() -> None:
    assert found("flow: A\nnope: {timeout: x}  # lint: ignore[SCH004]\n") == ["2:1 SCH001"]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two codes: one that only `verify` finds, one that the rules find too."""
    monkeypatch.setitem(CODES, "VER990", Code("stuck", "It stands still.", "error"))
    monkeypatch.setitem(
        CODES, "CHN990", Code("left", "Something is left.", "warning", found_by=("rule", "verifier"))
    )
    not_looked_for.cache_clear()
    yield
    not_looked_for.cache_clear()


VERIFIED = "flow: A\nx-a: 1  # lint: ignore[VER990, CHN990] known\nx-b: 1  # lint: ignore[SCH004] old\n"


def left(problems: list[Problem], unchecked: Collection[str]) -> list[str]:
    return [f"{p.code} {p.message}" for p in suppress(problems, VERIFIED, "x.flow.yaml", unchecked=unchecked)]


@pytest.mark.usefixtures("verified")
@pytest.mark.parametrize("severity", ["error", "warning", "info"])
def test_problems_of_the_verifier_are_suppressed_too(severity: str) -> None:
    problems = [
        Problem(code, "known", "x.flow.yaml", Span(2, 1, 2, 5), severity=severity)
        for code in ("VER990", "CHN990")
    ]
    assert left(problems, not_looked_for(has_rules=False, has_verifier=True)) == []
    elsewhere = Problem("VER990", "new", "x.flow.yaml", Span(3, 1, 3, 5), severity=severity)
    assert left([*problems, elsewhere], not_looked_for(has_rules=False, has_verifier=True)) == ["VER990 new"]


@pytest.mark.usefixtures("verified")
@pytest.mark.parametrize(
    ("asked", "unused"),
    [
        ({}, ["SCH004"]),
        ({"has_rules": False, "has_verifier": True}, ["VER990"]),
        ({"has_verifier": True}, ["VER990", "CHN990", "SCH004"]),
    ],
)
def test_a_suppression_is_unused_only_when_all_who_could_find_its_problem_were_asked(
    asked: dict[str, bool], unused: list[str]
) -> None:
    said = left([], not_looked_for(**asked))
    assert [each.split("`")[1] for each in said] == unused


def test_rules_with_errors_do_not_hide_that_a_suppression_is_unused() -> None:
    error = Problem("GRA001", "unreachable", "x.flow.yaml", Span(1, 1, 1, 5))
    assert {problem.code for problem in suppress([error], "flow: A  # lint: ignore[SCH004] x\n", "x")} == {
        "GRA001",
        UNUSED,
    }


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# lint: ignore[SCH004]", [WITHOUT_REASON]),
        ("# lint: ignore[SCH004]   ", [WITHOUT_REASON]),
        ("# lint: ignore[SCH004] # note", [WITHOUT_REASON]),
        ("# lint: ignore[SCH004] it is said so", []),
    ],
)
def test_a_suppression_says_its_reason(comment: str, codes: list[str]) -> None:
    problems = lint_text(f"flow: A\ntimeout: 1 hour  {comment}\n", "x.flow.yaml")
    assert [(problem.code, problem.severity) for problem in problems] == [(code, "info") for code in codes]


def test_suppressions_of_handlers_are_judged_only_when_handlers_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.flow.yaml").write_text("flow: A\n# lint: ignore[REF004, DAT008] why\nx-a: 1\n")
    assert lint_paths([tmp_path]) == []
    assert [problem.code for problem in lint_paths([tmp_path], has_handlers=True)] == [UNUSED, UNUSED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("flow: A  # lint: ignore[SCH004] old\nx-a: 1\n", "flow: A\nx-a: 1\n"),
        ("flow: A\n  # lint: ignore[SCH004] old\nx-a: 1\n", "flow: A\nx-a: 1\n"),
        ("flow: A\nx-a: 1\n# lint: ignore-file[SCH004]", "flow: A\nx-a: 1\n"),
        ("flow: A  # lint: ignore[SCH004, SCH003]\n", "flow: A\n"),
        ("flow: A\ntimeout: 1 hour  # lint: ignore[SCH004, SCH003]\n", None),
        ("flow: A  # lint: ignore[REF001]\n", None),
    ],
)
def test_a_comment_that_does_nothing_is_removed(before: str, after: str | None) -> None:
    result = fix_text(before, "x.flow.yaml", lambda problem: problem.fix is not None)
    assert result.after == (before if after is None else after)
