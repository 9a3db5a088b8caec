"""Accepted problems: recognized when the file around them changes, reported when they are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.definition.problem import Problem
from orchestrator.errors import UsageError
from orchestrator.lint.baseline import Compared, read_baseline, write_baseline
from orchestrator.lint.fingerprints import fingerprints
from orchestrator.lint.runner import lint_paths

FLOW = """\
flow: Old
start: First
steps:
  First:
    decide:
      - when: ${true}
        go_to: Secnd
      - {go_to: Thrid}
  Second:
    nope: 1
    dead_end: true
"""
FILE = "old.flow.yaml"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lint(text: str, file: str = FILE) -> list[Problem]:
    Path(file).write_text(text)
    return lint_paths([file])


def marks(text: str) -> set[str]:
    return set(fingerprints(lint(text)))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "changed",
    [
        "# a comment\n\n" + FLOW,
        FLOW.replace("    decide:\n", "    decide:\n      - {when: 1 > 2, dead_end: true}\n"),
        FLOW.replace("  Second:\n", "  Before:\n    dead_end: true\n  Second:\n"),
        FLOW.replace("- {go_to: Thrid}", "-\n        go_to: Thrid"),
        FLOW.replace("start: First\n", "").replace("flow: Old\n", "flow: Old\nstart: First\n"),
    ],
)
def test_lines_and_list_indexes_and_layout_are_no_part_of_a_fingerprint(changed: str) -> None:
    assert len(marks(FLOW)) == 4
    assert marks(changed) == marks(FLOW)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "changed",
    [
        FLOW.replace("Thrid", "Fourth"),
        FLOW.replace("nope", "nay"),
        FLOW.replace("flow: Old", "flow: New"),
        FLOW.replace("  First:", "  Fist:").replace("start: First", "start: Fist"),
    ],
)
def test_what_is_wrong_and_where_are_part_of_it(changed: str) -> None:
    assert marks(changed) != marks(FLOW)


@pytest.mark.usefixtures("place")
def test_the_same_problem_twice_has_two_fingerprints() -> None:
    assert len(marks(FLOW.replace("Secnd", "Thrid"))) == 4


@pytest.mark.usefixtures("place")
def test_a_flow_keeps_its_fingerprints_when_its_file_moves() -> None:
    assert set(fingerprints(lint(FLOW, "elsewhere.flow.yaml"))) == marks(FLOW)


def compare(text: str, *, paths: tuple[str, ...] = (FILE,), unchecked: tuple[str, ...] = ()) -> Compared:
    write_baseline("accepted.json", lint(FLOW))
    return read_baseline("accepted.json").compare(lint(text), paths, unchecked=unchecked)


@pytest.mark.usefixtures("place")
def test_only_new_problems_are_left_and_fixed_ones_are_named() -> None:
    compared = compare(FLOW.replace("Thrid", "Second").replace("dead_end: true", "go_to: Nowhere"))
    assert [problem.message for problem in compared.new] == ["no step `Nowhere` is declared"]
    assert [(entry.code, entry.message) for entry in compared.fixed] == [
        ("REF001", "no step `Thrid` is declared")
    ]


@pytest.mark.usefixtures("place")
def test_the_second_of_two_like_problems_is_new_where_one_was_accepted() -> None:
    compared = compare(FLOW.replace("      - {go_to: Thrid}\n", "      - {go_to: Thrid}\n" * 2))
    assert [problem.code for problem in compared.new] == ["REF001"]


@pytest.mark.usefixtures("place")
def test_entries_of_other_files_and_of_what_was_not_looked_for_are_not_called_fixed() -> None:
    mended = "flow: Old\n"
    assert len(compare(mended).fixed) == 4
    assert compare(mended, paths=("other.flow.yaml",)).fixed == []
    assert {entry.code for entry in compare(mended, unchecked=("REF001",)).fixed} == {"EXP002", "SCH001"}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no baseline accepted.json"),
        ("{", "cannot be read"),
        ("[]", "is no baseline of this release"),
        ('{"schema": 2, "problems": []}', "is no baseline of this release"),
        ('{"schema": 1, "problems": [1]}', "is damaged"),
        ('{"schema": 1}', "is damaged"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_file_that_is_no_baseline_is_a_usage_error(content: str | None, message: str) -> None:
    if content is not None:
        Path("accepted.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message):
        read_baseline("accepted.json")


@pytest.mark.usefixtures("place")
def test_the_file_says_to_people_what_is_accepted() -> None:
    write_baseline("accepted.json", lint(FLOW))
    document = json.loads(Path("accepted.json").read_text())
    assert [entry["code"] for entry in document["problems"]] == ["EXP002", "REF001", "REF001", "SCH001"]
    assert document["problems"][1]["path"] == FILE
    assert document["problems"][1]["flow"] == "Old"
