"""One thread that sleeps until the next thing that time brings: a timer, a retry, a handler's time limit.

It never polls while nothing is due. While results wait for company (`mind`) it looks every few milliseconds,
so that a handler which blocks keeps nobody's result back.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from orchestrator.clock import Clock

_MIND = 0.005
_LONGEST = 3600.0
_BREATH = 0.002
"""Seconds of real time."""
_AGAIN = _TURNED_BACK = timedelta(seconds=1)
log = logging.getLogger("orchestrator.engine")


class Watch:
    """`look(is_due)` does what is to be done and says within how many seconds it wants to be called again."""

    def __init__(self, clock: Clock, look: Callable[[bool], float | None]) -> None:
        self._clock = clock
        self._look = look
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._due_at: datetime | None = None
        self._limit_at: float | None = None
        """Monotonic; a handler's time limit."""
        self._mind_at: float | None = None
        self._is_urgent = False
        self._is_stopped = False
        self._looked_at = clock.now(), clock.monotonic()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._is_stopped = False
        thread = threading.Thread(target=self._run, name="watch", daemon=True)
        thread.start()
        self._thread = thread

    def stop(self) -> None:
        self._is_stopped = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def need_by(self, at: datetime) -> None:
        """Look at `at`, or earlier."""
        with self._lock:
            if self._due_at is not None and self._due_at <= at:
                return
            self._due_at = at
        self._wake.set()

    def need_now(self) -> None:
        """Look at once: something has come, or a clock was turned."""
        self._is_urgent = True
        self._wake.set()

    def need_within(self, seconds: float) -> None:
        """A time limit begins to run."""
        self.need_at(self._clock.monotonic() + seconds)

    def need_at(self, at: float) -> None:
        """The same, by the clock's monotonic time."""
        if self._limit_at is None or at < self._limit_at - 0.001:
            self._limit_at = at
            self._wake.set()

    def breathe(self) -> None:
        """Whoever is in the way may be gone in a moment."""
        threading.Event().wait(_BREATH)

    def mind(self) -> None:
        """Something waits to be committed and nobody is free to do it."""
        if self._mind_at is None:
            self._mind_at = self._clock.monotonic() + _MIND
            self._wake.set()

    def _run(self) -> None:
        while not self._is_stopped:
            if not self._is_urgent:
                left = self._seconds_left()
                if left > 0 and self._wake.wait(left):
                    self._wake.clear()
                    continue
            self._is_urgent = False
            self._mind_at = self._limit_at = None
            try:
                soonest = self._look(self._take_due())
            except Exception:  # without it nothing here would ever be due again
                log.exception("what was due could not be seen to, trying again")
                soonest = None
                self.need_by(self._clock.now() + _AGAIN)
            if soonest is not None:
                self.need_within(soonest)

    def _take_due(self) -> bool:
        was_turned_back = self._note_look()
        with self._lock:
            if self._due_at is None or (self._due_at > self._clock.now() and not was_turned_back):
                return False
            self._due_at = None
            return True

    def _note_look(self) -> bool:
        """Was the clock turned back since the look before? Then nobody knows what is due when."""
        (at, monotonic), self._looked_at = self._looked_at, (self._clock.now(), self._clock.monotonic())
        now, now_monotonic = self._looked_at
        return now + _TURNED_BACK < at + timedelta(seconds=now_monotonic - monotonic)

    def _seconds_left(self) -> float:
        left = _LONGEST
        with self._lock:
            if self._due_at is not None:
                left = (self._due_at - self._clock.now()) / timedelta(seconds=1)
        now = self._clock.monotonic()
        for at in (self._mind_at, self._limit_at):
            if at is not None:
                left = min(left, at - now)
        return min(left, _LONGEST)
