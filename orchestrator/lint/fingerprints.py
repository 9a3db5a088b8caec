"""What a problem is recognized by when the file around it changes: baselines, code scanning.

Neither lines nor list indexes count, nor the wording of messages; what they name in backticks does.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Problem
from orchestrator.definition.source import Source

_NAMED = re.compile(r"`([^`]*)`")


def fingerprints(problems: Sequence[Problem], sources: Mapping[str, Source] | None = None) -> list[str]:
    """One for each problem, in order. `sources` by path spares reading the files again."""
    known: dict[str, Source | None] = dict(sources or {})
    seen: Counter[str] = Counter()
    found = []
    for problem in problems:
        if problem.path not in known:
            known[problem.path] = read_source(problem.path)
        identity = _identity(problem, known[problem.path])
        seen[identity] += 1
        found.append(hashlib.sha256(f"{identity}\0{seen[identity]}".encode()).hexdigest()[:32])
    return found


def read_source(path: str) -> Source | None:
    """The text of a file with its places; None where it cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return None
    return read_document(text, path)[0]


def _identity(problem: Problem, source: Source | None) -> str:
    place: list[str] = []
    if source is not None and (at := source.path_at(problem.span.line, problem.span.column)) is not None:
        place = [part for part in at[0] if isinstance(part, str)]
    owner = problem.flow or problem.path
    return "\0".join((problem.code, owner, ".".join(place), *_NAMED.findall(problem.message)))
