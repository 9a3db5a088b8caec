"""How long handlers take, and what follows for leasing and for putting off a commit."""

from __future__ import annotations

_WEIGHT = 0.2
_WEIGHT_OF_ALL = 0.02
"""Of a call in the mean of all. It moves slowly: when the room shrinks for a moment, what it has no place for
is written to the store and claimed again.
"""
_QUICK = 0.0005
INSTANT = 0.00005
"""Seconds."""
_AHEAD = 0.2
"""Seconds of work at hand, about two commits beside handlers that compute: nobody runs dry meanwhile."""
_AHEAD_OF_URGENT = 0.05
"""The same where queues have priorities: what is urgent waits behind what is at hand."""
_SLOW = 1.0
MAXIMUM_ROOM = 400
_INSTANT_ROOM = 10_000
_KEPT, _OF = 15, 16
"""The share of work that stays although there is no room for more."""


class Pace:
    """Running means, in seconds. Written by many threads without a lock: a lost sample does no harm."""

    def __init__(self, thread_count: int) -> None:
        self._threads = thread_count
        self._mean: float | None = None
        self._by_handler: dict[str, float] = {}
        self._ahead = _AHEAD

    def note(self, handler: str, seconds: float) -> None:
        mean, weight = self._mean, _WEIGHT if seconds > _AHEAD else _WEIGHT_OF_ALL
        self._mean = seconds if mean is None else mean + weight * (seconds - mean)
        known = self._by_handler.get(handler)
        self._by_handler[handler] = seconds if known is None else known + _WEIGHT * (seconds - known)

    def note_standstill(self, seconds: float) -> None:
        """For so long no thread has begun anything, though there was something."""
        self._mean = max(self._mean or 0.0, seconds)

    def note_priorities(self, are_there: bool) -> None:
        self._ahead = _AHEAD_OF_URGENT if are_there else _AHEAD

    def is_quick(self, handler: str) -> bool:
        """Short enough to begin it before others' results are stored."""
        return self._by_handler.get(handler, 1.0) < _QUICK

    def is_instant(self, handler: str) -> bool:
        """Done sooner than another thread can be woken for it."""
        return self._by_handler.get(handler, 1.0) < INSTANT

    def room(self) -> int:
        """How much work to hold: what can run; as much again to go on with, unless that would have to wait
        for long; more when it is done in an instant.
        """
        if self._mean is not None and self._mean > _SLOW:
            return self._threads
        room = 2 * self._threads
        if self._mean is not None:
            room += int(self._threads * self._ahead / max(self._mean, 1e-6))
        return min(room, MAXIMUM_ROOM)

    def room_for(self, handler: str) -> int:
        """Beyond the room for anything: what is known to be done in an instant comes by the thousand."""
        room = self.room()
        return _INSTANT_ROOM if room == MAXIMUM_ROOM and self.is_instant(handler) else room

    def is_full(self, handler: str, held_count: int, placed_count: int, ended_count: int) -> bool:
        """What follows takes the places of what has ended, so that a run stays where it is in memory; except
        for a few, for others may have more time for it, and runs that wait are to have their turn.
        """
        kept_count = ended_count * _KEPT // _OF
        return placed_count >= kept_count and held_count + placed_count - kept_count >= self.room_for(handler)
