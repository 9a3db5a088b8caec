"""Those in this process who wait for something to become of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestrator.engine.cache import Entry

Notice = Callable[[Entry], bool]
"""Looks at a run that has just changed (with the commit lock held): is it what is waited for?"""


class Waiter:
    """Woken by commits of this process that its notice approves of, and by other processes' rings."""

    __slots__ = ("entry", "flow_id", "notice", "wake")

    def __init__(self, flow_id: str, notice: Notice) -> None:
        self.flow_id = flow_id
        self.notice = notice
        self.wake = threading.Event()
        self.entry: Entry | None = None
        """The run that was approved of."""


class Waiting:
    def __init__(self) -> None:
        self._waiters: dict[str, list[Waiter]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def waiter(self, flow_id: str, notice: Notice) -> Iterator[Waiter]:
        waiter = Waiter(flow_id, notice)
        with self._lock:
            self._waiters.setdefault(flow_id, []).append(waiter)
        try:
            yield waiter
        finally:
            with self._lock:
                waiters = self._waiters[flow_id]
                waiters.remove(waiter)
                if not waiters:
                    del self._waiters[flow_id]

    def note(self, entry: Entry) -> None:
        waiters = self._waiters.get(entry.run.flow_id)
        if not waiters:
            return
        for waiter in list(waiters):
            if waiter.notice(entry):
                waiter.entry = entry
                waiter.wake.set()

    def wake_all(self) -> None:
        """Another process has rung: look at the database."""
        with self._lock:
            waiters = [waiter for each in self._waiters.values() for waiter in each]
        for waiter in waiters:
            waiter.wake.set()
