"""Named points where a test can kill this process, to prove that no moment of a crash loses or repeats work.

`ORCHESTRATOR_FAULT=commit:3:before` kills it (SIGKILL) just before its third commit becomes durable, `after`
just after, while nobody has learned of it yet. Points: commit, lease, release,
prune, objects (the note that those of pruned runs are deleted), queues, projection, import.
"""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from orchestrator.errors import UsageError

VARIABLE = "ORCHESTRATOR_FAULT"


class Fault(NamedTuple):
    point: str
    number: int
    moment: str


def read_fault(text: str | None) -> Fault | None:
    """Raises UsageError."""
    if not text:
        return None
    point, _, rest = text.partition(":")
    number, _, moment = rest.partition(":")
    if not point or not number.isdigit() or moment not in ("before", "after"):
        raise UsageError(f"{VARIABLE}={text}: write POINT:NUMBER:before or POINT:NUMBER:after")
    return Fault(point, int(number), moment)


class Faults:
    """Counts how often each point was reached; one per engine."""

    def __init__(self, fault: Fault | None) -> None:
        self._fault = fault
        self._count = 0

    @classmethod
    def from_environment(cls) -> Faults:
        return cls(read_fault(os.environ.get(VARIABLE)))

    def before(self, point: str) -> None:
        if self._fault is not None and point == self._fault.point:
            self._count += 1
            self._die_at("before")

    def after(self, point: str) -> None:
        if self._fault is not None and point == self._fault.point:
            self._die_at("after")

    def _die_at(self, moment: str) -> None:
        assert self._fault is not None
        if self._count == self._fault.number and moment == self._fault.moment:
            os.kill(os.getpid(), signal.SIGKILL)
