"""What the rules find in a definition written in a test, and what its fixes make of it."""

from __future__ import annotations

from textwrap import dedent

from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem
from orchestrator.lint.fixing import apply_fixes
from orchestrator.lint.runner import check_flow


def found(text: str, code: str, *, path: str = "example.flow.yaml") -> list[Problem]:
    """The problems of that code or family; the loader has to accept the definition."""
    flow, problems = parse(dedent(text), path)
    assert flow is not None, [problem.concise() for problem in problems]
    return [problem for problem in check_flow(flow) if problem.code.startswith(code)]


def places(text: str, code: str) -> list[str]:
    """Where they are: `line:column`, in the order of the text."""
    spans = sorted(problem.span for problem in found(text, code))
    return [f"{span.line}:{span.column}" for span in spans]


def fixed(text: str, code: str) -> str:
    """The text with the fix of the first problem of that code, which must have one."""
    fix = found(text, code)[0].fix
    assert fix is not None
    return apply_fixes(dedent(text), [fix])
