"""Points of a run's past, as `time-travel --to` names them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.core.travel import Target

_METHODS = ("wait_for", "execute")
_EXECUTION = re.compile(r"[^/]+-[1-9][0-9]*")


def parse_point(text: str) -> Target:
    """Raises UsageError."""
    from orchestrator.core.travel import Target

    if text == "beginning":
        return Target()
    execution_id, slash, method = text.partition("/")
    if slash:
        if method not in _METHODS or not _EXECUTION.fullmatch(execution_id):
            raise UsageError(
                f"--to {text}: write STEP-N/wait_for or STEP-N/execute, such as Charge-2/execute"
            )
        return Target(execution_id=execution_id, method=method)
    if _EXECUTION.fullmatch(text) and not text[:4].isdigit():
        raise UsageError(f"--to {text}: say which method is to run anew: {text}/wait_for or {text}/execute")
    if text[:1].isdigit():
        return Target(time=_parse_time(text))
    if not text:
        raise UsageError("--to: name a point: beginning, a time, STEP, STEP-N/wait_for or STEP-N/execute")
    return Target(step=text)


def _parse_time(text: str) -> datetime:
    from orchestrator.definition.durations import parse_time

    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(f"--to {text}: {error}") from None
