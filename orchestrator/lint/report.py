"""Problems in every format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.definition.problem import Fix, Problem, Span
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lint.junit import render_junit
from orchestrator.lint.sarif import render_sarif

SCHEMA = 1
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(
    problems: Sequence[Problem],
    format: str = "text",
    *,
    sources: Mapping[str, Source] | None = None,
    has_colour: bool = False,
    files: Sequence[str] = (),
    fail_on: str = "error",
) -> str:
    """The report in one of FORMATS. `sources` by path spares reading the files again (text only).

    `files` are those that were looked at, and `fail_on` the severity that is a failure (junit only).
    """
    if format == "text":
        return render_text(problems, sources=sources, has_colour=has_colour)
    if format == "junit":
        return render_junit(problems, files, fail_on)
    if format not in FORMATS:
        raise UsageError(f"unknown format `{format}`; known: {', '.join(FORMATS)}")
    return _RENDERERS[format](problems)


def render_text(
    problems: Sequence[Problem], *, sources: Mapping[str, Source] | None = None, has_colour: bool = False
) -> str:
    """A frame for each problem and one line that counts them; empty without problems."""
    known: dict[str, Source | None] = dict(sources or {})
    frames = []
    for problem in problems:
        if problem.path not in known:
            known[problem.path] = _read_source(problem.path)
        frames.append(problem.frame(known[problem.path], has_colour=has_colour))
    return "\n\n".join([*frames, _conclude(problems)]) if frames else ""


def _conclude(problems: Sequence[Problem]) -> str:
    fixes = [problem.fix for problem in problems if problem.fix is not None]
    safe_count = sum(fix.is_safe for fix in fixes)
    offers = [f"{safe_count} with --fix"] if safe_count else []
    offers += [f"{len(fixes) - safe_count} with --fix --unsafe-fixes"] if len(fixes) > safe_count else []
    count = summarize(problems)
    return f"{count}\nfixable: {', '.join(offers)}" if offers else count


def summarize(problems: Sequence[Problem]) -> str:
    """`2 errors, 1 warning`."""
    counts = Counter(problem.severity for problem in problems)
    parts = []
    for severity in ("error", "warning", "info"):
        if count := counts[severity]:
            plural = "s" if count > 1 and severity != "info" else ""
            parts.append(f"{count} {severity}{plural}")
    return ", ".join(parts) or "no problems"


def render_concise(problems: Sequence[Problem]) -> str:
    return "\n".join(problem.concise() for problem in problems)


def render_json(problems: Sequence[Problem]) -> str:
    document = {"schema": SCHEMA, "problems": [problem_json(problem) for problem in problems]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def render_jsonl(problems: Sequence[Problem]) -> str:
    return "\n".join(json.dumps(problem_json(problem), ensure_ascii=False) for problem in problems)


def render_github(problems: Sequence[Problem]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    lines = []
    for problem in problems:
        span = problem.span
        properties = {
            "title": f"{problem.code} {problem.name}",
            "file": problem.path,
            "line": span.line,
            "endLine": span.end_line,
            "col": span.column,
        }
        if span.end_line == span.line:
            properties["endColumn"] = span.end_column
        shown = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items())
        text = problem.message + (f" ({problem.help})" if problem.help else "")
        lines.append(f"::{_GITHUB_LEVELS[problem.severity]} {shown}::{_escape_github(text)}")
    return "\n".join(lines)


def problem_json(problem: Problem) -> dict[str, Any]:
    """One problem as in cli.md, schema 1."""
    return {
        "code": problem.code,
        "name": problem.name,
        "severity": problem.severity,
        "confidence": problem.confidence,
        "message": problem.message,
        "flow": problem.flow,
        "path": problem.path,
        **_span_json(problem.span),
        "spans": [
            {"path": labelled.path, **_span_json(labelled.span), "label": labelled.label}
            for labelled in problem.spans
        ],
        "help": problem.help or None,
        "fix": _fix_json(problem.fix) if problem.fix is not None else None,
        "url": None,
    }


def _fix_json(fix: Fix) -> dict[str, Any]:
    edits = [{**_span_json(edit.span), "text": edit.text} for edit in fix.edits]
    return {"message": fix.message, "is_safe": fix.is_safe, "edits": edits}


def _span_json(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _read_source(path: str) -> Source | None:
    try:
        return Source(path, Path(path).read_text(encoding="utf-8-sig", errors="replace"))
    except OSError:
        return None


def _escape_github(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_github(text).replace(":", "%3A").replace(",", "%2C")


_RENDERERS: dict[str, Callable[[Sequence[Problem]], str]] = {
    "text": render_text,
    "concise": render_concise,
    "json": render_json,
    "jsonl": render_jsonl,
    "github": render_github,
    "sarif": render_sarif,
}
FORMATS = (*_RENDERERS, "junit")
