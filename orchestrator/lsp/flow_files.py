"""The flows in the directory of a flow, by type, for subflows. Only their first lines are looked at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from orchestrator.definition.catalogue import SUFFIX

_FLOW = re.compile(r"^flow:[ \t]*['\"]?(\w+)", re.MULTILINE)

_DESCRIPTION = re.compile(r"^description:[ \t]+([^\s>|'\"#][^\n]*)", re.MULTILINE)
"""On one line and without quotes; others are left out."""


class FlowFile(NamedTuple):
    """`line` and `column` of its type count from 1."""

    path: Path
    line: int
    column: int
    description: str = ""


def flows_beside(file: Path) -> dict[str, FlowFile]:
    """Of two files with one type the first counts."""
    found: dict[str, FlowFile] = {}
    for path in sorted(file.parent.glob(f"*{SUFFIX}")):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
        match = _FLOW.search(text)
        if match is not None:
            line = text.count("\n", 0, match.start(1)) + 1
            column = match.start(1) - (text.rfind("\n", 0, match.start(1)) + 1) + 1
            described = _DESCRIPTION.search(text)
            description = described[1].strip() if described is not None else ""
            found.setdefault(match[1], FlowFile(path, line, column, description))
    return found
