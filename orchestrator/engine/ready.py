"""Leased work that waits for a thread, in order; what comes by the thousand lets others pass.

Used by many threads without a lock: a deque's own operations are whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from orchestrator.engine.task import Task

CROWD = 200
"""So many may stand before what comes next."""


class Ready:
    """`line` is empty only if `reserve` is, but for the moment in which the last one is taken."""

    __slots__ = ("line", "reserve")

    def __init__(self) -> None:
        self.line: deque[Task] = deque()
        self.reserve: deque[Task] = deque()
        """Comes into the line when that is empty."""

    def put(self, tasks: Sequence[Task]) -> None:
        free = max(0, CROWD - len(self.line))
        self.line.extend(tasks[:free])
        self.reserve.extend(tasks[free:])

    def take(self) -> Task | None:
        try:
            task = self.line.popleft()
        except IndexError:
            return None
        if not self.line and self.reserve:
            self.line.extend(_taken(self.reserve, CROWD))
        return task

    def take_reserve(self) -> list[Task]:
        return _taken(self.reserve, len(self.reserve))

    def take_half(self, kept_count: int) -> list[Task]:
        """Of what stands behind so many, the last ones."""
        taken: list[Task] = []
        for _ in range((len(self.line) + len(self.reserve) - kept_count) // 2):
            try:
                taken.append((self.reserve or self.line).pop())
            except IndexError:
                break  # somebody else was quicker
        return taken

    def take_all(self) -> list[Task]:
        taken = []
        while (task := self.take()) is not None:
            taken.append(task)
        return taken


def _taken(tasks: deque[Task], most: int) -> list[Task]:
    taken: list[Task] = []
    while tasks and len(taken) < most:
        try:
            taken.append(tasks.popleft())
        except IndexError:
            break  # somebody else was quicker
    return taken
