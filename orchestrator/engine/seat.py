"""Handler threads: what each runs, and how those that have nothing to do are woken."""

from __future__ import annotations

import threading
from collections.abc import Callable

from orchestrator.engine.task import Task


class Seat:
    __slots__ = ("is_replaced", "started_at", "task", "wake")

    def __init__(self) -> None:
        self.wake = threading.Lock()
        self.wake.acquire()
        self.task: Task | None = None
        self.started_at = 0.0
        self.is_replaced = False


class Sleepers:
    """Those who sleep; the last to lie down is woken first. Used by many threads without a lock."""

    __slots__ = ("_seats", "is_leader_coming")

    def __init__(self) -> None:
        self._seats: list[Seat] = []
        self.is_leader_coming = False
        """Somebody has been woken to lead, and is not there yet: what is entered now is in time."""

    def __len__(self) -> int:
        return len(self._seats)

    def rest(self, seat: Seat, is_needed: Callable[[], bool], on_rest: Callable[[], None]) -> None:
        """Sleep until woken. Who looks for sleepers after this one lay down finds it."""
        self._seats.append(seat)
        if is_needed():
            try:
                self._seats.remove(seat)
            except ValueError:
                seat.wake.acquire()  # somebody has just woken it
        else:
            on_rest()
            seat.wake.acquire()
        self.is_leader_coming = False

    def wake_one(self) -> bool:
        try:
            seat = self._seats.pop()
        except IndexError:
            return False
        seat.wake.release()
        return True

    def call_leader(self) -> bool:
        self.is_leader_coming = True
        if self.wake_one():
            return True
        self.is_leader_coming = False
        return False
