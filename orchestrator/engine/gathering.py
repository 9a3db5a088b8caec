"""Clients that one commit has answered: what they want next belongs together in the next commit.

An answered client has to be woken first. Whoever comes earlier would commit alone, and be in the way of the
others, who then wait for the interpreter's lock and come together in the commit after that.
"""

from __future__ import annotations

import threading
from itertools import count

from orchestrator.engine.submission import Receipt

LONGEST = 0.0005
"""Seconds: somebody may be kept from waking."""


class Gathering:
    __slots__ = ("_all_awake", "_awake_count", "_size")

    def __init__(self, receipts: list[Receipt]) -> None:
        """`receipts`: about to be filled in; at least one."""
        self._size = len(receipts)
        self._awake_count = count(1)
        self._all_awake = threading.Lock()
        self._all_awake.acquire()
        for receipt in receipts:
            receipt.on_awake = self._note_awake

    def wait(self) -> None:
        """Until all are awake. The last one keeps the interpreter's lock until it waits for something."""
        self._all_awake.acquire(timeout=LONGEST)

    def _note_awake(self) -> None:
        if next(self._awake_count) == self._size:
            self._all_awake.release()
