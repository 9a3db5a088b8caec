"""Those in this process who wait for something to become of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Protocol, TypeVar

from orchestrator.engine.cache import Entry

Notice = Callable[[Entry], bool]
"""Looks at a run that has just changed (with the commit lock held): is it what is waited for?"""


class Bell(Protocol):
    """Wakes one who waits, from any thread."""

    def set(self) -> None: ...


class Waiter:
    """Woken by commits of this process that its notice approves of, and by other processes' rings.

    It waits inside of `with`.
    """

    __slots__ = ("_waiting", "entry", "flow_id", "looks_anyway", "notice", "run", "wake")

    def __init__(self, waiting: Waiting, flow_id: str, notice: Notice, wake: Bell) -> None:
        self._waiting = waiting
        self.flow_id = flow_id
        self.notice = notice
        self.wake = wake
        self.entry: Entry | None = None
        """The run that was approved of."""
        self.run: int | None = None
        """Waits for this run to close, which was seen running."""
        self.looks_anyway = False
        """Looks again and again, also if nobody wakes it."""

    def __enter__(self) -> Waiter:
        self._waiting.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.remove(self)


class Waiting:
    def __init__(self) -> None:
        self._waiters: dict[str, list[Waiter]] = {}
        self._lock = threading.Lock()
        self.count = 0

    def waiter(self, flow_id: str, notice: Notice, wake: Bell) -> Waiter:
        return Waiter(self, flow_id, notice, wake)

    def add(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.setdefault(waiter.flow_id, []).append(waiter)
            self.count += 1

    def remove(self, waiter: Waiter) -> None:
        with self._lock:
            waiters = self._waiters[waiter.flow_id]
            waiters.remove(waiter)
            self.count -= 1
            if not waiters:
                del self._waiters[waiter.flow_id]

    def note(self, entry: Entry) -> None:
        waiters = self._waiters.get(entry.run.flow_id)
        if not waiters:
            return
        for waiter in list(waiters):
            if waiter.notice(entry):
                waiter.entry = entry
                waiter.wake.set()

    def is_awaited(self, flow_id: str) -> bool:
        return flow_id in self._waiters

    def all(self) -> list[Waiter]:
        with self._lock:
            return [waiter for each in self._waiters.values() for waiter in each]


T = TypeVar("T")
Patience = Generator[float | None, None, T]
"""Looks for what is waited for, and gives it in the end. In between it says in how many seconds it looks
again (None: not before the bell rings that it was given).
"""


class _ThreadBell:
    """Wakes one thread. An `Event` takes three times as long, some of it with the commit lock held."""

    __slots__ = ("_silence",)

    def __init__(self) -> None:
        self._silence = threading.Lock()
        self._silence.acquire()

    def set(self) -> None:
        try:
            self._silence.release()
        except RuntimeError:  # it rings already
            return

    def hear(self, seconds: float | None) -> None:
        """Until it rings, at most for so long."""
        self._silence.acquire(timeout=-1 if seconds is None else max(0.0, seconds))


def sit_out(begin: Callable[[Bell], Patience[T]]) -> T:
    """In the calling thread."""
    bell = _ThreadBell()
    patience = begin(bell)
    try:
        while True:
            bell.hear(next(patience))
    except StopIteration as end:
        found: T = end.value
        return found
    finally:
        patience.close()
