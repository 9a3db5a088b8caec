"""Problems as SARIF 2.1.0, which GitHub code scanning and editors read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from orchestrator.definition.codes import CODES
from orchestrator.definition.problem import Fix, Problem, Span

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ROOT = "%SRCROOT%"
_FINGERPRINT = "orchestrator/v1"


def render_sarif(problems: Sequence[Problem]) -> str:
    rules = sorted({*CODES, *(problem.code for problem in problems)})
    index = {code: number for number, code in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for problem in problems:
        identity = "\0".join((problem.code, problem.path, problem.flow or "", problem.message))
        seen[identity] += 1
        results.append(_result(problem, index[problem.code], f"{identity}\0{seen[identity]}"))
    run = {
        "tool": {"driver": {"name": "orchestrator", "rules": [_rule(code) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The working directory of the command."}}},
        "results": results,
    }
    return json.dumps(
        {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False
    )


def _rule(code: str) -> dict[str, Any]:
    about = CODES.get(code)
    if about is None:
        return {"id": code}
    return {
        "id": code,
        "name": about.name,
        "shortDescription": {"text": about.explanation},
        "help": {"text": f"orchestrator lint --explain {code}"},
        "defaultConfiguration": {"level": _LEVELS[about.severity]},
    }


def _result(problem: Problem, rule: int, identity: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message + (f" ({problem.help})" if problem.help else "")},
        "locations": [{"physicalLocation": _physical(problem.path, problem.span)}],
        "partialFingerprints": {_FINGERPRINT: hashlib.sha256(identity.encode()).hexdigest()},
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
    return result


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
