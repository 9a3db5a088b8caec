"""Problems that a project has accepted for now: a file of their fingerprints; only new ones are reported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.definition.presence import reason
from orchestrator.definition.problem import Problem
from orchestrator.definition.source import Source
from orchestrator.errors import UsageError
from orchestrator.lint.fingerprints import fingerprints

SCHEMA = 1
DEFAULT_FILE = "lint-baseline.json"


@dataclass(frozen=True)
class Entry:
    """One accepted problem. All but the fingerprint is for people who read the file."""

    fingerprint: str
    code: str
    path: str
    flow: str | None
    message: str


@dataclass(frozen=True)
class Compared:
    """`fixed`: entries whose problem is no longer there."""

    new: list[Problem]
    fixed: list[Entry]


@dataclass(frozen=True)
class Accepted:
    """The content of a baseline."""

    entries: tuple[Entry, ...] = ()

    def compare(
        self,
        problems: Sequence[Problem],
        paths: Collection[str],
        *,
        unchecked: Collection[str] = (),
        sources: Mapping[str, Source] | None = None,
    ) -> Compared:
        """What is not in the baseline; `paths` were looked at, `unchecked` codes were not looked for."""
        accepted = Counter(entry.fingerprint for entry in self.entries)
        new = []
        for problem, fingerprint in zip(problems, fingerprints(problems, sources), strict=True):
            if accepted[fingerprint] > 0:
                accepted[fingerprint] -= 1
            else:
                new.append(problem)
        fixed = []
        for entry in self.entries:
            was_looked_for = entry.path in paths and entry.code not in unchecked
            if was_looked_for and accepted[entry.fingerprint] > 0:
                accepted[entry.fingerprint] -= 1
                fixed.append(entry)
        return Compared(new, fixed)


def read_baseline(path: str | Path) -> Accepted:
    """Raises UsageError where the file is not there or is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no baseline {path}; make one with --write-baseline") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"the baseline {path} cannot be read: {reason(error)}") from None
    version = document.get("schema") if isinstance(document, dict) else None
    if version != SCHEMA:
        raise UsageError(f"{path} is no baseline of this release; make one with --write-baseline")
    try:
        return Accepted(tuple(_entry(each) for each in document["problems"]))
    except (KeyError, TypeError):
        raise UsageError(f"{path} is damaged; make it anew with --write-baseline") from None


def write_baseline(
    path: str | Path, problems: Sequence[Problem], sources: Mapping[str, Source] | None = None
) -> None:
    found = [
        {
            "fingerprint": fingerprint,
            "code": problem.code,
            "path": problem.path,
            "flow": problem.flow,
            "message": problem.message,
        }
        for problem, fingerprint in zip(problems, fingerprints(problems, sources), strict=True)
    ]
    text = json.dumps({"schema": SCHEMA, "problems": found}, indent=2, ensure_ascii=False)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _entry(node: Mapping[str, Any]) -> Entry:
    return Entry(
        str(node["fingerprint"]), str(node["code"]), str(node["path"]), node.get("flow"), str(node["message"])
    )
