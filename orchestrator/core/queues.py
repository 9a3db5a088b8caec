"""One queue of messages as one commit changes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from orchestrator.core.state import QueuedMessage


class DraftQueue:
    """Unread messages of one queue: `head` of the stored ones are taken, some came back, some are new."""

    __slots__ = ("_appended", "_head", "_returned", "_stored")

    def __init__(self, stored: deque[QueuedMessage] | None) -> None:
        self._stored: Sequence[QueuedMessage] = stored if stored is not None else ()
        self._head = 0
        self._returned: list[QueuedMessage] = []
        self._appended: list[QueuedMessage] = []

    def __len__(self) -> int:
        return len(self._stored) - self._head + len(self._returned) + len(self._appended)

    def append(self, message: QueuedMessage) -> None:
        self._appended.append(message)

    def give_back(self, messages: list[QueuedMessage]) -> None:
        self._returned = sorted([*self._returned, *messages], key=lambda message: message.seq)

    def take(self, count: int) -> list[QueuedMessage]:
        """The `count` oldest, removed."""
        taken = []
        for _ in range(count):
            stored = self._stored[self._head] if self._head < len(self._stored) else None
            if self._returned and (stored is None or self._returned[0].seq < stored.seq):
                taken.append(self._returned.pop(0))
            elif stored is not None:
                self._head += 1
                taken.append(stored)
            else:
                taken.append(self._appended.pop(0))
        return taken

    def __iter__(self) -> Iterator[QueuedMessage]:
        stored = islice(self._stored, self._head, None)
        return iter(sorted(chain(self._returned, stored, self._appended), key=lambda message: message.seq))
