"""For how long a thread may compute while others wait for the interpreter's lock.

Python's 5 ms let one handler that computes slow all others a hundredfold; half a millisecond does not. But
handlers that take about as long as that would each be interrupted once, and go on behind all others: they are
let finish (decision 42).
"""

from __future__ import annotations

import sys

SHORTEST, LONGEST = 0.0005, 0.002
"""Seconds."""
_SOON = 0.001
"""Seconds of computing; who takes longer is interrupted."""
_LENGTHS = 4
"""So many of a handler's own."""
_WEIGHT = 0.02
_TOLERANCE = 0.25


class Quantum:
    """Of this process: its worker's handlers decide."""

    def __init__(self) -> None:
        self._mean: float | None = None
        self._chosen: float | None = None
        """None: somebody has chosen a shorter one, and keeps it."""

    def begin(self) -> None:
        if sys.getswitchinterval() >= SHORTEST:  # as another worker of this process may have left it
            self._choose(SHORTEST)

    def note(self, seconds: float) -> None:
        """A handler has computed for so long. Without a lock: a lost sample does no harm."""
        mean = self._mean
        self._mean = seconds if mean is None else mean + _WEIGHT * (seconds - mean)
        if self._chosen is None:
            return
        wanted = min(LONGEST, max(SHORTEST, _LENGTHS * self._mean)) if self._mean <= _SOON else SHORTEST
        if abs(wanted - self._chosen) > _TOLERANCE * self._chosen:
            self._choose(wanted)

    def _choose(self, seconds: float) -> None:
        self._chosen = seconds
        sys.setswitchinterval(seconds)
