"""One handler thread: what it runs, and the lock that it sleeps on."""

from __future__ import annotations

import threading

from orchestrator.engine.task import Task


class Seat:
    __slots__ = ("is_replaced", "started_at", "task", "wake")

    def __init__(self) -> None:
        self.wake = threading.Lock()
        self.wake.acquire()
        self.task: Task | None = None
        self.started_at = 0.0
        self.is_replaced = False
