"""The only place that reads time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

_TOLERANCE = timedelta(seconds=1)
_LONGEST_QUESTION = 0.5
"""Seconds; what an answer says that took longer is not known well enough."""


class Clock(Protocol):
    """Where the engine learns what time it is; tests pass a virtual one."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; for measuring spans."""
        ...


class SystemClock:
    """The machine's clock."""

    now = staticmethod(partial(datetime.now, UTC))
    monotonic = staticmethod(time.monotonic)


class SharedClock:
    """The machine's clock, put right by one that all machines share where it is wrong by over a second."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._offset = timedelta()
        self.monotonic = self._clock.monotonic

    def now(self) -> datetime:
        return self._clock.now() + self._offset

    def compare(self, ask: Callable[[], datetime | None]) -> timedelta | None:
        """By how much it was put right; None: it was right.

        `ask`: what the shared clock says; None: there is no other than the machine's.
        """
        asked_at = self.monotonic()
        right = ask()
        if right is None:
            return None
        difference = right - self.now()
        if abs(difference) <= _TOLERANCE or self.monotonic() - asked_at > _LONGEST_QUESTION:
            return None
        self._offset += difference
        return difference
