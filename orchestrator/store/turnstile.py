"""A fair lock between the processes that write one SQLite file.

SQLite's own lock is taken by whoever polls first: in tight loops one process starves the others for seconds.
Two file locks in a row make a queue: who holds the gate is next, and lets the following one into the gate as
soon as it is inside.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: SQLite's own lock has to do
    fcntl = None


class Turnstile:
    """For one thread at a time."""

    def __init__(self, path: str) -> None:
        self._gate = os.open(f"{path}.gate", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._inside = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def enter(self) -> None:
        if fcntl is None:  # pragma: no cover
            return
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._inside, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    def leave(self) -> None:
        if fcntl is not None:
            fcntl.flock(self._inside, fcntl.LOCK_UN)

    def __enter__(self) -> None:
        self.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def close(self) -> None:
        os.close(self._gate)
        os.close(self._inside)
