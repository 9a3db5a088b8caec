"""Work that this worker has leased and not begun, and others would begin sooner.

A worker that had much to do and runs dry calls for work; those that have more than they begin at once give
half of the rest back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import timedelta

from orchestrator.clock import Clock
from orchestrator.engine.pace import Pace
from orchestrator.engine.ready import Ready
from orchestrator.engine.submission import Return
from orchestrator.engine.task import Task

PATIENCE = 1.0
"""Seconds that leased work waits for a thread before other workers may have it."""
AGAIN = timedelta(milliseconds=50)
"""After that what was given away is looked for: perhaps nobody has taken it."""


class Sharing:
    def __init__(
        self, ready: Ready, pace: Pace, clock: Clock, concurrency: int, submit: Callable[[Return], None]
    ) -> None:
        self._ready = ready
        self._pace = pace
        self._clock = clock
        self._concurrency = concurrency
        self._submit = submit
        self._was_busy = False
        """It has had more than it could begin."""
        self._may_call = True
        """It is new, or has run dry, and has not called since."""

    # --- Of others ---

    def runs_dry(self, held_count: int) -> bool:
        """To be asked after each commit. True, once: look for work, and call for it if there is none."""
        if held_count >= self._concurrency:
            self._was_busy = self._was_busy or held_count > self._concurrency
            return False
        runs_dry, self._was_busy = self._was_busy, False
        self._may_call = self._may_call or runs_dry
        return runs_dry

    def calls(self, held_count: int) -> bool:
        """There is no work: call for it?"""
        if not self._may_call or held_count >= self._concurrency:
            return False
        self._may_call = False
        return True

    # --- To others ---

    def give_away(self) -> bool:
        """Another worker has called. True: there is something to commit."""
        given = self._ready.take_half(self._concurrency)
        for task in given:
            self._submit(Return(task))
        return bool(given)

    def hand_back_waiting(self, soonest: float | None) -> float | None:
        """What was leased when handlers were quick does not wait here behind slow ones."""
        in_line, in_reserve = self._waited(self._ready.line), self._waited(self._ready.reserve)
        if in_line is not None and in_line >= PATIENCE:
            self._pace.note_standstill(in_line)
            tasks = self._ready.take_all()
        elif in_reserve is not None and in_reserve >= PATIENCE:
            tasks = self._ready.take_reserve()
        else:
            left = [PATIENCE - waited for waited in (in_line, in_reserve) if waited is not None]
            return min([*left, *([] if soonest is None else [soonest])], default=None)
        for task in tasks:
            self._submit(Return(task))
        return soonest

    def _waited(self, tasks: deque[Task]) -> float | None:
        """Seconds that the first of them has waited."""
        try:
            handed_out_at = tasks[0].handed_out_at
        except IndexError:
            return None
        assert handed_out_at is not None
        return (self._clock.now() - handed_out_at).total_seconds()
