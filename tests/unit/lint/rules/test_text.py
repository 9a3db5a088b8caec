"""YML003 and YML007: what other readers read otherwise, and what nobody sees."""

from __future__ import annotations

import pytest

from orchestrator.lint.rules.text import other_reading
from tests.support.linted import fixed, found, places

HEAD = "flow: F\nx-data:\n"


@pytest.mark.parametrize(
    "text", ["yes", "No", "ON", "off", "12:30", "1:30:00", "1_000", "+1_0.5", "0b101", "0755"]
)
def test_scalars_that_yaml_1_1_reads_otherwise(text: str) -> None:
    assert other_reading(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "null",
        "y",
        "n",
        "0",
        "-1",
        "1.5",
        "0o755",
        "0x1f",
        "a:b",
        "10:75",
        "2030-01-01",
        "yEs",
        "_1",
        "0899",
    ],
)
def test_scalars_that_both_read_alike_or_that_nobody_mistakes(text: str) -> None:
    assert other_reading(text) is None


def test_values_and_keys_are_quoted() -> None:
    text = HEAD + "  at: 12:30   # noon\n  on: [no, 'no', \"12:30\"]\n"
    assert places(text, "YML003") == ["3:7", "4:3", "4:8"]
    assert fixed(text, "YML003").splitlines()[2:] in (
        ['  at: "12:30"   # noon', "  on: [no, 'no', \"12:30\"]"],
        ["  at: 12:30   # noon", '  "on": [no, \'no\', "12:30"]'],
        ["  at: 12:30   # noon", '  on: ["no", \'no\', "12:30"]'],
    )


def test_a_number_with_a_leading_zero_is_told_and_not_quoted() -> None:
    (problem,) = found(HEAD + "  mode: 0755\n", "YML003")
    assert (problem.help, problem.fix) == ("write `755`, or quote it if it is text", None)


def test_text_in_quotes_blocks_and_comments_is_left_alone() -> None:
    assert found(HEAD + '  a: "no"\n  b: |\n    no\n  c: x  # no\n', "YML003") == []


def test_a_last_line_without_end_gets_one() -> None:
    text = "flow: F\nstart: A\nsteps: {A: {graceful_complete: }}"
    assert places(text, "YML007") == ["3:33"]
    assert fixed(text, "YML007") == text + "\n"
    assert found(text + "\n", "YML007") == []


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\u2060", "\u2028"])
def test_invisible_characters_are_shown_by_number_and_removed_if_asked(character: str) -> None:
    text = f"flow: F\nversion: 'pay{character}ed' # à\nx-a: 1\n"
    (problem,) = found(text, "YML007")
    assert (problem.span.line, problem.span.column) == (2, 14)
    assert f"U+{ord(character):04X}" in problem.message
    assert problem.fix is not None and not problem.fix.is_safe
    assert fixed(text, "YML007") == text.replace(character, "")


def test_letters_with_accents_joiners_and_other_scripts_are_fine() -> None:
    assert found("flow: F\ndescription: 'é 日本 👩\u200d🚀 עברית'\n", "YML007") == []
