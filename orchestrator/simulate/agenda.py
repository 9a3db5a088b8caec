"""What is to happen, by virtual time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TypeAlias

Deed: TypeAlias = Callable[[], None]


class Rank(IntEnum):
    """Order of what falls on the same moment."""

    REACTION = 0
    """Clients that act right after a commit."""
    WORK = 1
    CLIENT = 2
    """Clients that act at a given time find all work of that moment done."""


class Agenda:
    """Deterministic: by time, then rank, then the order of planning."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._entries: list[tuple[datetime, Rank, int, Deed]] = []
        self._count = 0

    def plan(self, at: datetime, deed: Deed, rank: Rank = Rank.WORK) -> None:
        """What is overdue happens now."""
        self._count += 1
        heapq.heappush(self._entries, (max(at, self.now), rank, self._count, deed))

    def plan_after(self, span: timedelta, deed: Deed, rank: Rank = Rank.WORK) -> None:
        self.plan(self.now + span, deed, rank)

    def next_at(self) -> datetime | None:
        return self._entries[0][0] if self._entries else None

    def take(self) -> Deed:
        at, _, _, deed = heapq.heappop(self._entries)
        self.now = at
        return deed
