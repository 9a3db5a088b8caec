"""Of which queues a worker claims, and in which order.

Queues of a higher priority come first, those of the same take turns. Every eighth claim begins at the other
end, so that what has a low priority does not starve.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from orchestrator.engine.handlers import Handlers
from orchestrator.store.queues import Priority, Queues

OTHER_WAY_ROUND = 8


@dataclass(frozen=True, slots=True)
class Shares:
    queues: tuple[int, ...]
    """0: what stands in no queue."""
    named: frozenset[int]
    """Of these all work is taken; of the others what the worker serves by flow type or step."""
    are_timers_apart: bool
    """What stands in no queue is not served, but for timers."""
    startable: int
    """How many handlers could begin at once; no less than that."""


class Turns:
    """Of one worker."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self._claims = count(1)

    def take(self, queues: Queues, startable: int) -> Shares:
        number = next(self._claims)
        named = frozenset(queue.number for queue in queues if self._handlers.is_named(queue.number))
        serves_all = self._handlers.serves_beside(queues)
        served = [0, *(queue.number for queue in queues)] if serves_all else sorted(named)
        at = number % len(served) if served else 0
        order = sorted(served[at:] + served[:at], key=lambda each: _priority(queues, each))
        if number % OTHER_WAY_ROUND == 0:
            order.reverse()
        return Shares(tuple(order), named, are_timers_apart=not serves_all, startable=startable)


def _priority(queues: Queues, number: int) -> Priority:
    queue = queues.get(number)
    return queue.settings.priority if queue is not None else Priority.NORMAL
