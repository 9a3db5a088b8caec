"""How many threads of this process read at once: each has a connection, and a server has only so many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.errors import StoreError

SEATS = 8
PATIENCE = 60.0
"""Seconds that a thread waits for a seat."""


class ReadingRoom:
    def __init__(self, seats: int = SEATS) -> None:
        self._seats = threading.Semaphore(seats)
        self._seat_count = seats
        self._own = threading.local()

    @contextmanager
    def seat(self) -> Iterator[None]:
        """Who reads already needs no other seat. Raises StoreError."""
        if getattr(self._own, "is_seated", False):
            yield
            return
        if not self._seats.acquire(timeout=PATIENCE):
            raise StoreError(f"{self._seat_count} threads of this process read for more than {PATIENCE:g} s")
        self._own.is_seated = True
        try:
            yield
        finally:
            self._own.is_seated = False
            self._seats.release()
