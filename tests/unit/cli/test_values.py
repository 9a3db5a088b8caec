"""Values on the command line are JSON, a file or standard input, and never guessed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.values import parse_assignments, parse_value
from orchestrator.errors import UsageError


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Ada", """for text write '"Ada"', for a file @Ada"""),
        ("a b", """for text write '"a b"', for a file '@a b'"""),
        ("", """VALUE: nothing stands here; for text write '""'"""),
        (" ", """VALUE: nothing stands here; for text write '" "'"""),
        ("@", "VALUE: `@` stands before the name of a file: @input.json"),
    ],
)
def test_the_advice_for_a_value_can_be_followed(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_value(text, "VALUE")
    assert caught.value.message.endswith(advice)


@pytest.mark.parametrize(
    ("text", "value"),
    [(None, None), ("null", None), ("1", 1), ('"Ada"', "Ada"), ('{"a": [1.5, true]}', {"a": [1.5, True]})],
)
def test_json_is_taken_as_it_is(text: str | None, value: Any) -> None:
    assert parse_value(text, "--input") == value


def test_text_that_is_not_json_is_refused_with_the_quoted_form() -> None:
    with pytest.raises(UsageError, match="--input: `Ada's` is not JSON") as caught:
        parse_value("Ada's", "--input")
    assert caught.value.data["quoted"] == "'\"Ada'\"'\"'s\"'"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a": 1, "a": 2}', "", "{a: 1}", "1 2"])
def test_what_json_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_value(text, "VALUE")


def test_a_value_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text('{"name": "Zoë"}', encoding="utf-8")
    assert parse_value(f"@{file}", "--input") == {"name": "Zoë"}


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*nowhere\.json: No such file"):
        parse_value(f"@{tmp_path}/nowhere.json", "--input")


def test_a_value_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("[1, 2]"))
    assert parse_value("-", "--input") == [1, 2]


def test_a_file_that_is_not_json_is_a_usage_error_that_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text('{\n  "a": oops\n}', encoding="utf-8")
    with pytest.raises(UsageError, match="line 2"):
        parse_value(f"@{file}", "--input")


def test_a_value_without_end_is_refused_in_a_few_words(tmp_path: Path) -> None:
    deep = "[" * 100_000
    (tmp_path / "deep.json").write_text(deep, encoding="utf-8")
    for text in (deep, f"@{tmp_path}/deep.json"):
        with pytest.raises(UsageError, match="nested too deeply") as caught:
            parse_value(text, "--input")
        assert len(caught.value.message) < 1000


def test_assignments_are_names_with_values() -> None:
    assert parse_assignments(['status="new"', "count=2"], "--attribute") == {"status": "new", "count": 2}


@pytest.mark.parametrize("texts", [["status"], ["=1"], ["a=1", "a=2"], ["status=new"]])
def test_an_assignment_that_cannot_be_read_is_refused(texts: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_assignments(texts, "--attribute")
