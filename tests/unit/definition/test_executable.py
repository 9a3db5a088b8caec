"""What this release's engine does not execute yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.catalogue import check_executable, find_files, load
from orchestrator.definition.executable import FINDERS
from tests.support.play import flow_of

FLOWS = Path(__file__).parents[3] / "flows"


def test_every_example_is_executable() -> None:
    flows = [load(path) for path in find_files([FLOWS])]
    assert len(flows) > 20
    assert [problem for flow in flows for problem in check_executable(flow)] == []


def test_a_feature_that_is_not_is_named_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FINDERS, "a channel", lambda flow: (each.path for each in flow.channels.values()))
    (problem,) = check_executable(flow_of("flow: F\nchannels: {c: string}\n"))
    assert (problem.code, problem.severity) == ("ENG001", "info")
    assert problem.message.startswith("a channel cannot be executed yet")
    assert (problem.span.line, problem.span.column) == (2, 12)
