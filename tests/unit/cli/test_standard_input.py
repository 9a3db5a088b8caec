"""Standard input that cannot be read is told, and is no bug."""

from __future__ import annotations

import io
import sys

import pytest

from orchestrator.cli.main import invoke

READERS = [
    ["lint", "-"],
    ["lint", "--fix", "-"],
    ["verify", "-"],
    ["check", "-"],
    ["publish", "r-1", "channel", "-"],
]


@pytest.mark.parametrize("words", [*READERS, ["db", "import", "-", "--yes"]], ids=" ".join)
def test_one_that_is_closed(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHESTRATOR_DB", "sqlite://")
    monkeypatch.setattr(sys, "stdin", None)
    assert invoke(words) == 2
    assert capsys.readouterr().err == "error: standard input is closed, and is to be read\n"


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_one_that_is_no_text(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHESTRATOR_DB", "sqlite://")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'"\xff"'), encoding="utf-8"))
    assert invoke(words) == 2
    assert capsys.readouterr().err == "error: standard input is not UTF-8: invalid start byte\n"
