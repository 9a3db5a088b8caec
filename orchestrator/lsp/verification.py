"""The verifier's problems of a saved flow.

It runs in a process of its own: a long search neither delays answers nor outlives the next save.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.definition.problem import LabelledSpan, Problem, Span, TraceStep

STATE_LIMIT = 50_000
"""How far the search goes in an editor; the command line goes further by itself."""
PATIENCE = 60
"""Seconds after which the search is given up."""
_UNDECIDED = "VER005"
"""That the limit above was reached says nothing of the flow."""


async def verify_file(file: str, directory: Path) -> list[Problem]:
    """What `orchestrator verify` finds in `directory`; nothing where it does not come to an end."""
    words = ["-m", "orchestrator", "verify", file, "--format", "json", "--max-states", str(STATE_LIMIT)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            said, _ = await process.communicate()
    except TimeoutError:
        return []
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return read_problems(said, file)


def read_problems(said: bytes, file: str) -> list[Problem]:
    """Of the report in JSON; none where it is none."""
    try:
        document = json.loads(said)
        return [_problem(each, file) for each in document["problems"] if each["code"] != _UNDECIDED]
    except (ValueError, KeyError, TypeError):
        return []


def _problem(found: Mapping[str, Any], file: str) -> Problem:
    return Problem(
        found["code"],
        found["message"],
        file,
        _span(found),
        help=found["help"] or "",
        severity=found["severity"],
        confidence=found["confidence"],
        flow=found["flow"],
        spans=tuple(LabelledSpan(file, _span(each), each["label"]) for each in found["spans"]),
        trace=tuple(TraceStep(_span(each), each["text"], each["thread"]) for each in found["trace"]),
        notes=tuple(found["notes"]),
    )


def _span(found: Mapping[str, Any]) -> Span:
    return Span(found["line"], found["column"], found["end_line"], found["end_column"])
