"""The help of an unknown key: what it is called here, or where it stands."""

import pytest

from orchestrator.definition import foreign_keys
from orchestrator.definition.foreign_keys import hint, key_meant
from orchestrator.definition.keys import KEYS
from orchestrator.definition.parse import parse

EVERY_KEY = {key for keys in KEYS.values() for key in keys}


@pytest.mark.parametrize("kind", sorted(foreign_keys._WORDS))
def test_no_word_of_other_languages_is_a_key_of_ours_there(kind: str) -> None:
    words = foreign_keys._WORDS[kind]
    assert words.keys().isdisjoint(KEYS[kind])
    assert [said for said in words.values() if "`" not in said and said not in EVERY_KEY] == []


@pytest.mark.parametrize(
    ("kind", "key", "expected"),
    [
        ("flow", "name", "here it is called `flow`"),
        ("flow", "StartAt", "here it is called `start`"),
        ("step", "next", "here it is called `go_to`"),
        ("step", "onError", "here it is called `on_failure`"),
        ("step", "retry", "it stands under `execute` or `wait_for`"),
        ("step", "until", "it stands under `wait_for`"),
        ("step", "maximum_attempts", "it stands under `execute: retry` or `wait_for: retry`"),
        ("flow", "retry", "it belongs to a step, under `execute`"),
        ("flow", "go_to", "it belongs to a step"),
        ("flow", "policy", "it stands under `timeout`"),
        ("execute", "go_to", "it stands one level up, beside `execute`"),
        ("decision", "execute", "it stands one level up, beside `decide`"),
        ("channel condition", "handler", "it stands one level up, beside `until`"),
        ("execute", "max_attempts", "`retry: {maximum_attempts: …}`"),
        ("step", "colour", ""),
    ],
)
def test_what_is_called_otherwise_or_stands_elsewhere(kind: str, key: str, expected: str) -> None:
    assert hint(key, kind) == expected


def test_ends_of_other_languages_are_told_apart_here() -> None:
    assert key_meant("end", "step") is None
    assert "`dead_end: true`" in hint("End", "step")
    assert "`graceful_complete: output`" in hint("End", "step")


def test_a_key_that_has_one_name_here_is_renamed_on_demand() -> None:
    text = "flow: F\nstart: A\nsteps:\n  A:\n    next: B\n  B:\n    dead_end: true\n"
    _, problems = parse(text, "f.flow.yaml")
    unknown = next(problem for problem in problems if problem.code == "SCH001")
    assert unknown.help == "here it is called `go_to`"
    assert unknown.fix is not None and [edit.text for edit in unknown.fix.edits] == ["go_to"]


def test_it_is_not_renamed_to_what_is_there_already() -> None:
    text = "flow: F\nname: F\nstart: A\nsteps:\n  A:\n    dead_end: true\n"
    _, (unknown,) = parse(text, "f.flow.yaml")
    assert (unknown.code, unknown.fix) == ("SCH001", None)
