"""Problems as SARIF 2.1.0, which GitHub code scanning and editors read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from orchestrator.definition.codes import CODES
from orchestrator.definition.explanations import Explanation, explain, rule_url
from orchestrator.definition.problem import Fix, Problem, Span, TraceStep
from orchestrator.definition.source import Source
from orchestrator.lint.fingerprints import fingerprints

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SEVERITIES = {"error": "error", "warning": "warning", "info": "recommendation"}
_PRECISIONS = {"proved": "very-high", "checked": "high", "heuristic": "medium"}
_ROOT = "%SRCROOT%"
_FINGERPRINT = "orchestrator/v2"


def render_sarif(problems: Sequence[Problem], sources: Mapping[str, Source] | None = None) -> str:
    """`sources` by path spares reading the files again, for fingerprints."""
    rules = sorted({*CODES, *(problem.code for problem in problems)})
    index = {code: number for number, code in enumerate(rules)}
    marks = fingerprints(problems, sources)
    run = {
        "tool": {"driver": {"name": "orchestrator", "rules": [_rule(code) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The working directory of the command."}}},
        "results": [
            _result(problem, index[problem.code], mark) for problem, mark in zip(problems, marks, strict=True)
        ],
    }
    return json.dumps(
        {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False
    )


def _rule(code: str) -> dict[str, Any]:
    about, explained = CODES.get(code), explain().get(code)
    if about is None or explained is None:
        return {"id": code}
    rule = {
        "id": code,
        "name": about.name,
        "shortDescription": {"text": about.explanation},
        "fullDescription": {"text": explained.why},
        "help": {"text": explained.as_text(), "markdown": _markdown(explained)},
        "defaultConfiguration": {"level": _LEVELS[about.severity]},
        "properties": {
            "precision": _PRECISIONS[about.confidence],
            "problem.severity": _SEVERITIES[about.severity],
            "tags": [code[:3]],
        },
    }
    url = rule_url(code) or ""
    return {**rule, "helpUri": url} if "://" in url else rule


def _markdown(explained: Explanation) -> str:
    parts = [f"**{explained.what}** {explained.why}"]
    if explained.bad is not None:
        parts += ["For example:", _fenced(explained.bad.as_text())]
    parts.append(f"What to do: {explained.fix}")
    if explained.good is not None:
        parts += ["Mended:", _fenced(explained.good.as_text())]
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    return f"```yaml\n{text}\n```"


def _result(problem: Problem, rule: int, mark: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message + (f" ({problem.help})" if problem.help else "")},
        "locations": [{"physicalLocation": _physical(problem.path, problem.span)}],
        "partialFingerprints": {_FINGERPRINT: mark},
        "properties": {"confidence": problem.confidence, "flow": problem.flow},
    }
    if problem.spans:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": labelled.label},
                "physicalLocation": _physical(labelled.path, labelled.span),
            }
            for number, labelled in enumerate(problem.spans, start=1)
        ]
    if problem.fix is not None:
        result["fixes"] = [_fix(problem.path, problem.fix)]
    if problem.trace:
        result["codeFlows"] = [_code_flow(problem.path, problem.trace)]
    if problem.notes:
        result["properties"]["notes"] = list(problem.notes)
    return result


def _code_flow(path: str, trace: Sequence[TraceStep]) -> dict[str, Any]:
    """A thread for each step execution; `executionOrder` tells how their events follow each other."""
    threads: dict[str, list[dict[str, Any]]] = {}
    for number, step in enumerate(trace, start=1):
        location = {"physicalLocation": _physical(path, step.span), "message": {"text": step.text}}
        threads.setdefault(step.thread, []).append({"executionOrder": number, "location": location})
    return {
        "threadFlows": [
            {"id": thread or "run", "message": {"text": thread or "the run"}, "locations": locations}
            for thread, locations in threads.items()
        ]
    }


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
        "properties": {"isSafe": fix.is_safe},
    }


def _physical(path: str, span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(path), "region": _region(span)}


def _artifact(path: str) -> dict[str, str]:
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(Path(path).as_posix()), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
