"""Heartbeats of one running handler: when it was last heard of, what is still to be kept of what it said."""

from __future__ import annotations

import threading

from orchestrator.definition.model import Json

_KEEP_EVERY = 1.0
_KEEP_AT_MOST_EVERY = 0.1
"""Seconds. A heartbeat kept is a commit; those in between replace each other."""


class Pulse:
    """Times are monotonic seconds. `limit`: the method's heartbeat timeout."""

    __slots__ = ("_kept_at", "_lock", "_unkept", "beaten_at", "interval", "limit")

    def __init__(self, now: float, limit: float | None) -> None:
        self.beaten_at = now
        self.limit = limit
        self.interval = _KEEP_EVERY
        if limit is not None:
            self.interval = min(_KEEP_EVERY, max(_KEEP_AT_MOST_EVERY, limit / 4))
        self._kept_at: float | None = None
        self._unkept: tuple[Json] | None = None
        self._lock = threading.Lock()

    def beat(self, value: Json, now: float) -> None:
        with self._lock:
            self.beaten_at = now
            self._unkept = (value,)

    def take(self, now: float, *, is_last: bool = False) -> tuple[Json] | None:
        """What is to be kept now: the latest value, unless one was kept a moment ago and more may come."""
        with self._lock:
            left = self.seconds_left(now)
            if self._unkept is None or left is None or (left > 0 and not is_last):
                return None
            unkept, self._unkept, self._kept_at = self._unkept, None, now
            return unkept

    def seconds_left(self, now: float) -> float | None:
        """Until there is something to keep; None: nothing has been said since."""
        if self._unkept is None:
            return None
        return 0.0 if self._kept_at is None else self._kept_at + self.interval - now
