"""Which problems count: `--select`, `--ignore`, `--fail-on`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.definition.problem import Problem

SEVERITIES = ("info", "warning", "error")


def select_problems(
    problems: Iterable[Problem], select: Sequence[str], ignore: Sequence[str]
) -> list[Problem]:
    """Codes, families (`SCH`) or names (`unknown-key`); nothing selected is everything."""
    return [
        problem
        for problem in problems
        if (not select or _is_named(problem, select)) and not _is_named(problem, ignore)
    ]


def is_failing(problems: Iterable[Problem], severity: str) -> bool:
    """Is there a problem of this severity or a worse one?"""
    least = SEVERITIES.index(severity)
    return any(SEVERITIES.index(problem.severity) >= least for problem in problems)


def _is_named(problem: Problem, names: Sequence[str]) -> bool:
    return any(problem.code.startswith(name.upper()) or problem.name == name for name in names)
