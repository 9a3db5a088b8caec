"""Who commits: one thread at a time. Those who wait for it have it before all who come later.

Whoever leads under load goes on at once with the next commit: with a plain lock the others, who have to be
woken first, would be late every time.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class Lead:
    """Held inside of `with`, after waiting in line; or taken without waiting, by `take`, until `leave`."""

    __slots__ = ("_line", "_line_lock", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[threading.Lock] = deque()
        """Of those who wait: what each sleeps on."""
        self._line_lock = threading.Lock()

    def take(self) -> bool:
        """False: somebody has it."""
        return self._lock.acquire(blocking=False)

    def leave(self) -> None:
        self._lock.release()
        if self._line:
            self._hand_over()

    @property
    def is_taken(self) -> bool:
        return self._lock.locked()

    def __enter__(self) -> None:
        if self.take():
            return
        turn = threading.Lock()
        turn.acquire()
        with self._line_lock:
            self._line.append(turn)
        self._hand_over()  # it may have been left meanwhile
        try:
            turn.acquire()
        except BaseException:  # KeyboardInterrupt
            self._give_up(turn)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def _hand_over(self) -> None:
        with self._line_lock:
            if self._line and self.take():
                self._line.popleft().release()

    def _give_up(self, turn: threading.Lock) -> None:
        with self._line_lock:
            is_waiting = turn in self._line
            if is_waiting:
                self._line.remove(turn)
        if not is_waiting:
            self.leave()
