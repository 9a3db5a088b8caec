"""Which problems count, and how much: codes, presets, files, `--fail-on`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from orchestrator.definition.codes import CODES
from orchestrator.definition.problem import Problem

SEVERITIES = ("info", "warning", "error")
PRESETS = {
    "recommended": "errors and warnings",
    "strict": "errors, warnings and infos",
    "syntax": "the text, the shape and the names of the file: for editors while someone types",
}
_SYNTAX_FAMILIES = ("YML", "SCH", "REF")


def select_problems(
    problems: Iterable[Problem],
    select: Sequence[str],
    ignore: Sequence[str],
    preset: str = "strict",
    severities: Mapping[str, str] | None = None,
    ignored_in: Mapping[str, Sequence[str]] | None = None,
) -> list[Problem]:
    """Those that are wanted. Words are codes, families (`SCH`) or names (`unknown-key`).

    `select` overrules the preset. `severities` by word replace a problem's own; a later one wins over an
    earlier one. `ignored_in` has words by glob of paths.
    """
    wanted = []
    for problem in problems:
        problem = _weighed(problem, severities or {})
        if not (_is_named(problem, select) if select else _is_in(problem, preset)):
            continue
        if _is_named(problem, ignore) or _is_ignored_there(problem, ignored_in or {}):
            continue
        wanted.append(problem)
    return wanted


def is_failing(problems: Iterable[Problem], severity: str) -> bool:
    """Is there a problem of this severity or a worse one?"""
    least = SEVERITIES.index(severity)
    return any(SEVERITIES.index(problem.severity) >= least for problem in problems)


def is_known_word(word: str) -> bool:
    """Does it name a code, a family or the beginning of one?"""
    return bool(word) and any(_names(word, code, about.name) for code, about in CODES.items())


def known_words() -> list[str]:
    """Codes, families and names, for "did you mean"."""
    families = dict.fromkeys(code[:3] for code in CODES)
    return [*CODES, *families, *(about.name for about in CODES.values())]


def _weighed(problem: Problem, severities: Mapping[str, str]) -> Problem:
    for word, severity in severities.items():
        if _is_named(problem, [word]) and severity != problem.severity:
            problem = replace(problem, severity=severity)
    return problem


def _is_in(problem: Problem, preset: str) -> bool:
    if preset == "syntax":
        return problem.code.startswith(_SYNTAX_FAMILIES)
    return preset == "strict" or problem.severity != "info"


def _is_ignored_there(problem: Problem, ignored_in: Mapping[str, Sequence[str]]) -> bool:
    """`*` stands for slashes too; a pattern without a slash is one of file names."""
    name = problem.path.rpartition("/")[2]
    return any(
        _is_named(problem, words)
        for pattern, words in ignored_in.items()
        if fnmatchcase(problem.path, pattern.removeprefix("./")) or fnmatchcase(name, pattern)
    )


def _is_named(problem: Problem, words: Sequence[str]) -> bool:
    return any(_names(word, problem.code, problem.name) for word in words)


def _names(word: str, code: str, name: str) -> bool:
    return code.startswith(word.upper()) or name == word.lower()
