"""Errors for people and machines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
        (["lint", "x", "--format=json"], True),
        (["list", "-o", "JSON"], True),
        (["list", "-oJsonl"], True),
        (["lint", "x", "-f", "json"], True),
        (["lint", "x", "-fjson"], True),
        (["render", "x", "-f", "svg"], False),
        (["list", "--output=text"], False),
        (["list", "--", "--format=json"], False),
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


def test_a_file_that_cannot_be_used_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PermissionError(13, "Permission denied", "flows/x.flow.yaml"), False) == 2
    assert capsys.readouterr().err == "error: flows/x.flow.yaml: Permission denied\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["lint", "--help"]], ids=str)
def test_a_full_output_is_told_in_a_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "orchestrator", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_usage_errors_say_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["graph", "--wings"]) == 2
    assert "orchestrator graph --help" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["db"], ["queues"], ["attributes"]], ids=str)
def test_without_a_command_the_help_is_shown_and_no_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Usage: orchestrator ")
    assert "error" not in printed.err
