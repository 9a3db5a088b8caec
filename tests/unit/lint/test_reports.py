"""Problems as text, JSON and annotations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from orchestrator.definition.problem import Edit, Fix, LabelledSpan, Problem, Span, TraceStep
from orchestrator.errors import UsageError
from orchestrator.lint.report import FORMATS, render, summarize
from orchestrator.lint.runner import lint_text

ROOT = Path(__file__).parents[3]
TEXT = "flow: F\nflow: G\nnope: 1\n"
PROBLEM = Problem(
    "YML002",
    "key `a, b` is\nrepeated: 100%",
    "flows/x.flow.yaml",
    Span(2, 1, 2, 5),
    help="remove one",
    flow="F",
    spans=(LabelledSpan("flows/x.flow.yaml", Span(1, 1, 1, 5), "first here"),),
)


def test_json_is_schema_1() -> None:
    document = json.loads(render([PROBLEM], "json"))
    assert document == {
        "schema": 1,
        "problems": [
            {
                "code": "YML002",
                "name": "duplicate-key",
                "severity": "error",
                "confidence": "proved",
                "message": "key `a, b` is\nrepeated: 100%",
                "flow": "F",
                "path": "flows/x.flow.yaml",
                "line": 2,
                "column": 1,
                "end_line": 2,
                "end_column": 5,
                "spans": [
                    {
                        "path": "flows/x.flow.yaml",
                        "line": 1,
                        "column": 1,
                        "end_line": 1,
                        "end_column": 5,
                        "label": "first here",
                    }
                ],
                "help": "remove one",
                "fix": None,
                "trace": [],
                "notes": [],
                "url": "docs/rules/YML002.md",
            }
        ],
    }


def test_json_without_problems() -> None:
    assert json.loads(render([], "json")) == {"schema": 1, "problems": []}


def test_jsonl_has_one_object_a_line() -> None:
    lines = render([PROBLEM, PROBLEM], "jsonl").splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["YML002", "YML002"]


def test_json_and_its_lines_are_what_the_published_schema_says() -> None:
    schema = json.loads((ROOT / "schemas" / "lint.schema.json").read_text(encoding="utf-8"))
    span = Span(3, 1, 3, 5)
    found = replace(
        PROBLEM,
        fix=Fix("remove it", (Edit(span, ""),), is_safe=True),
        trace=(TraceStep(span, "starts B x2", "A-1"), TraceStep(span, "dead_end")),
        notes=("stuck: B-1",),
    )
    closed = _closed(schema)
    for problems in ([], [PROBLEM], [found, *lint_text(TEXT)]):
        assert list(Draft7Validator(closed).iter_errors(json.loads(render(problems, "json")))) == []
    one = {**closed["definitions"]["problem"], "definitions": closed["definitions"]}
    for line in render([PROBLEM, found], "jsonl").splitlines():
        assert list(Draft7Validator(one).iter_errors(json.loads(line))) == []


def _closed(schema: Any) -> Any:
    """With no property beside those that it names."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _closed(value) for key, value in schema.items()}
    return {**made, "additionalProperties": False} if schema.get("type") == "object" else made


def test_github_annotations_are_escaped() -> None:
    assert render([PROBLEM], "github") == (
        "::error title=YML002 duplicate-key,file=flows/x.flow.yaml,line=2,endLine=2,col=1,endColumn=5"
        "::key `a, b` is%0Arepeated: 100%25 (remove one)"
    )


@pytest.mark.parametrize(
    ("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "notice")]
)
def test_github_has_a_level_for_each_severity(severity: str, level: str) -> None:
    """Paths and names may hold what separates properties; a span over several lines has no end column."""
    problem = replace(PROBLEM, severity=severity, path="flows/a,b:c%.yaml", span=Span(2, 1, 4, 5), help="")
    assert render([problem], "github") == (
        f"::{level} title=YML002 duplicate-key,file=flows/a%2Cb%3Ac%25.yaml,line=2,endLine=4,col=1"
        "::key `a, b` is%0Arepeated: 100%25"
    )


def test_concise() -> None:
    problems = lint_text(TEXT, "x.flow.yaml")
    assert render(problems, "concise").splitlines() == [
        "x.flow.yaml:2:1: YML002 key `flow` is repeated; first at 1:1",
        "x.flow.yaml:3:1: SCH001 unknown key `nope` in the flow",
    ]


def test_text_ends_with_the_count() -> None:
    text = render(lint_text("flow: F\nnope: 1\ntimeout: x\n", "absent.flow.yaml"), "text")
    assert text.splitlines()[-2:] == ["2 errors", "what a code means: orchestrator lint --explain SCH001"]
    assert "error[SCH001] unknown-key" in text
    assert "absent.flow.yaml:2:1" in text
    assert render([], "text") == ""


def test_summary_counts_by_severity() -> None:
    info = Problem("ENG001", "m", "f", Span(1, 1, 1, 1), severity="info")
    assert summarize([PROBLEM, info, info]) == "1 error, 2 info"
    assert summarize([]) == "no problems"


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown format"):
        render([], "xml")
    assert set(FORMATS) == {"text", "concise", "json", "jsonl", "github", "sarif", "junit"}
