"""Errors for people and machines."""

from __future__ import annotations

import json

import pytest

from orchestrator.cli.failures import is_json_asked, report
from orchestrator.cli.main import invoke
from orchestrator.errors import NotFound


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["list", "-o", "json"], True),
        (["list", "--output=jsonl"], True),
        (["lint", "x", "--format", "json"], True),
        (["list", "-o", "text"], False),
        (["publish", "x", "c", "json"], False),
        (["list", "-o"], False),
    ],
)
def test_json_is_asked_for_by_words(words: list[str], asked: bool) -> None:
    assert is_json_asked(words) is asked


def test_an_error_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(NotFound("no run x", flow_id="x", type="other"), True) == 4
    assert json.loads(capsys.readouterr().err) == {
        "error": {"type": "not_found", "message": "no run x", "flow_id": "x"},
    }


def test_a_bug_is_told_in_a_line_without_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORCHESTRATOR_DEBUG", raising=False)
    assert report(ZeroDivisionError("division by zero\nsecond line"), False) == 70
    told = capsys.readouterr().err
    assert told.startswith("error: internal error: ZeroDivisionError: division by zero;")
    assert told.count("\n") == 1


def test_usage_errors_say_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["graph", "--wings"]) == 2
    assert "orchestrator graph --help" in capsys.readouterr().err
