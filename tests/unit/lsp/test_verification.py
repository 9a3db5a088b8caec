"""What the verifier says, read from its report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.definition.problem import LabelledSpan, Span, TraceStep
from orchestrator.lsp.document import Document
from orchestrator.lsp.verification import read_problems

PLACE = {"line": 1, "column": 2, "end_line": 1, "end_column": 5}


def found(code: str = "VER001") -> dict[str, Any]:
    return {
        "code": code,
        "message": "stuck",
        "severity": "error",
        "confidence": "checked",
        "flow": "F",
        "help": None,
        "spans": [{**PLACE, "path": "elsewhere", "label": "here"}],
        "trace": [{**PLACE, "thread": "A-1", "text": "waits"}],
        "notes": ["at the end"],
        **PLACE,
    }


def test_a_problem_keeps_what_it_says() -> None:
    (problem,) = read_problems(json.dumps({"problems": [found()]}).encode(), "f.flow.yaml")
    assert problem.path == "f.flow.yaml"
    assert problem.span == Span(1, 2, 1, 5)
    assert problem.spans == (LabelledSpan("f.flow.yaml", Span(1, 2, 1, 5), "here"),)
    assert problem.trace == (TraceStep(Span(1, 2, 1, 5), "waits", "A-1"),)
    assert (problem.help, problem.notes) == ("", ("at the end",))


def test_that_the_search_was_cut_short_is_no_problem() -> None:
    assert read_problems(json.dumps({"problems": [found("VER005")]}).encode(), "f.flow.yaml") == []


@pytest.mark.parametrize(
    "said", [b"", b"{", b"[]", b"{}", b'{"problems": [{}]}', b'{"problems": 1}', b"\xff"]
)
def test_what_is_no_report_has_no_problems(said: bytes) -> None:
    assert read_problems(said, "f.flow.yaml") == []


def test_a_problem_that_lint_has_too_is_shown_once() -> None:
    text = "flow: F\nsteps:\n  A: {go_to: B}\n"
    document = Document("f.flow.yaml", text)
    document.verified = [
        *document.problems,
        *read_problems(json.dumps({"problems": [found()]}).encode(), "x"),
    ]
    assert [problem.code for problem in document.all_problems].count("REF001") == 1
    assert "VER001" in [problem.code for problem in document.all_problems]
