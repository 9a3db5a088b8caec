"""What other processes do to runs that somebody here waits for.

A process that rings says nothing of what it did. A few who wait look for themselves; for many one thread
looks which of their runs are closed, all at once, and wakes only those who wait for these.
"""

from __future__ import annotations

import threading
import time

from orchestrator.engine.waiting import Waiting
from orchestrator.errors import StoreError
from orchestrator.store.contract import Store

FEW = 8
_REST = 4
"""Times the duration of a look, until the next one."""


class Lookout:
    def __init__(self, store: Store, waiting: Waiting) -> None:
        self._store = store
        self._waiting = waiting
        self._rung = threading.Event()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Another process has rung."""
        if self._waiting.count <= FEW:
            for waiter in self._waiting.all():
                waiter.wake.set()
            return
        self._rung.set()
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._keep_looking, name="lookout", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        with self._lock:
            self._stopped.set()
            self._rung.set()
        if self._thread is not None:
            self._thread.join()

    def _keep_looking(self) -> None:
        while not self._stopped.is_set():
            self._rung.wait()
            self._rung.clear()
            began_at = time.monotonic()
            self._look()
            self._stopped.wait((time.monotonic() - began_at) * _REST)

    def _look(self) -> None:
        waiters = [waiter for waiter in self._waiting.all() if not waiter.looks_anyway]
        running = self._running({waiter.run for waiter in waiters if waiter.run is not None})
        for waiter in waiters:
            if waiter.run not in running:
                waiter.wake.set()

    def _running(self, runs: set[int]) -> set[int]:
        """None, where the store cannot say it: then each sees for itself what is wrong."""
        try:
            with self._store.reading() as reading:
                return reading.running_among(runs)
        except StoreError:
            return set()
