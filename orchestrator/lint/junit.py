"""Problems as JUnit XML: one test case a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from orchestrator.definition.problem import Problem
from orchestrator.lint.selection import is_failing

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(problems: Sequence[Problem], files: Sequence[str], fail_on: str) -> str:
    """`files` are those that were looked at. A file with a problem of `fail_on` or worse has failed."""
    by_file: dict[str, list[Problem]] = {path: [] for path in files}
    for problem in problems:
        by_file.setdefault(problem.path, []).append(problem)
    failure_count = sum(is_failing(found, fail_on) for found in by_file.values())
    counts = f'tests="{len(by_file)}" failures="{failure_count}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="orchestrator lint" {counts}>',
            f'  <testsuite name="orchestrator lint" {counts}>',
            *(_test_case(path, found, fail_on) for path, found in by_file.items()),
            "  </testsuite>",
            "</testsuites>",
        ]
    )


def _test_case(path: str, found: Sequence[Problem], fail_on: str) -> str:
    head = f'    <testcase classname="orchestrator.lint" name={_attribute(path)} file={_attribute(path)}'
    if not found:
        return f"{head}/>"
    text = _text("\n".join(_line(problem) for problem in found))
    if not is_failing(found, fail_on):
        return f"{head}>\n      <system-out>{text}</system-out>\n    </testcase>"
    first = next(problem for problem in found if is_failing([problem], fail_on))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    failure = (
        f"<failure type={_attribute(first.code)} message={_attribute(first.message + more)}>{text}</failure>"
    )
    return f"{head}>\n      {failure}\n    </testcase>"


def _line(problem: Problem) -> str:
    return f"{problem.severity}: {problem.concise()}" + (f" ({problem.help})" if problem.help else "")


def _text(text: str) -> str:
    return escape(_NO_XML.sub("�", text))


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("�", text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
