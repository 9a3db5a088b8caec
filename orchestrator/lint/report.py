"""Problems in every format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator.definition.explanations import rule_url
from orchestrator.definition.problem import Fix, Problem, Span
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lint.fingerprints import read_source
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
    """The report in one of FORMATS. `sources` by path spares reading the files again (text and sarif).

    `files` are those that were looked at, and `fail_on` the severity that is a failure (junit only).
    """
    if format == "text":
        return render_text(problems, sources=sources, has_colour=has_colour)
    if format == "sarif":
        return render_sarif(problems, sources)
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
        for path in (problem.path, *(each.path for each in problem.spans)):
            if path not in known:
                known[path] = read_source(path)
        frames.append(problem.frame(known[problem.path], known, has_colour=has_colour))
    return "\n\n".join([*frames, _conclude(problems)]) if frames else ""


def _conclude(problems: Sequence[Problem]) -> str:
    fixes = [problem.fix for problem in problems if problem.fix is not None]
    safe_count = sum(fix.is_safe for fix in fixes)
    offers = [f"{safe_count} with --fix"] if safe_count else []
    offers += [f"{len(fixes) - safe_count} with --fix --unsafe-fixes"] if len(fixes) > safe_count else []
    lines = [summarize(problems), f"fixable: {', '.join(offers)}" if offers else ""]
    lines.append(f"what a code means: orchestrator lint --explain {problems[0].code}")
    return "\n".join(line for line in lines if line)


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
        "trace": [
            {"thread": step.thread, "text": step.text, **_span_json(step.span)} for step in problem.trace
        ],
        "notes": list(problem.notes),
        "url": rule_url(problem.code),
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


def _escape_github(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_github(text).replace(":", "%3A").replace(",", "%2C")


_RENDERERS: dict[str, Callable[[Sequence[Problem]], str]] = {
    "concise": render_concise,
    "json": render_json,
    "jsonl": render_jsonl,
    "github": render_github,
}
FORMATS = ("text", "concise", "json", "jsonl", "github", "sarif", "junit")
