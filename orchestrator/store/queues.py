"""Queues: which calls of handlers stand in which, and how much of each is done at a time.

They are kept in the database, so that all workers go by the same. A queue has routes: flow types, `Order`,
steps, `Order/Charge`, or `*` for all that no other queue has; the closest route decides. What stands in no
queue is not limited. A queue may stand within another, which then counts what both have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import lru_cache

import msgspec
from msgspec import Struct

from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.errors import UsageError

DEADLINE = "on_timeout"
"""The name of a flow's timeout handler, as a step."""
EVERYTHING = "*"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z", re.ASCII)
_ROUTE = re.compile(r"(\*|[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)?)\Z", re.ASCII)


class Priority(IntEnum):
    HIGH = 0
    NORMAL = 1
    LOW = 2


class Rate(Struct, frozen=True):
    """So many attempts in so many microseconds; at most `burst` at once."""

    count: int
    micros: int
    burst: int = 1

    @property
    def interval(self) -> float:
        """Microseconds between two, in the long run."""
        return self.micros / self.count

    def free_count(self, spent_until: int, now: int) -> int:
        """How many may begin now."""
        ahead = max(spent_until - now, 0)
        return max(0, int((self.burst * self.interval - ahead) / self.interval + 1e-6))

    def spend(self, spent_until: int, now: int, count: int) -> int:
        return int(max(spent_until, now) + count * self.interval)

    def free_at(self, spent_until: int, now: int) -> int:
        """When the next may begin."""
        return int(max(spent_until, now) - (self.burst - 1) * self.interval) + 1


class QueueSettings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    routes: tuple[str, ...] = ()
    concurrency: int | None = None
    """How many attempts may run at a time; None: any number."""
    rate: Rate | None = None
    priority: Priority = Priority.NORMAL
    within: str | None = None

    def demand_sound(self) -> None:
        """Raises UsageError."""
        for route in self.routes:
            if _ROUTE.match(route) is None:
                raise UsageError(f"`{route}` is no route: a route is FLOW, FLOW/STEP, or * for all else")
        if self.concurrency is not None and self.concurrency < 0:
            raise UsageError("the concurrency of a queue is 0 (nothing is begun) or more")
        if self.rate is not None and (self.rate.count < 1 or self.rate.burst < 1 or self.rate.micros < 1):
            raise UsageError("the rate and the burst of a queue are 1 or more")


class Queue(Struct, frozen=True):
    number: int
    name: str
    settings: QueueSettings

    @property
    def is_limited(self) -> bool:
        return self.settings.concurrency is not None or self.settings.rate is not None


class Queues:
    """All queues of a store; false when there are none."""

    def __init__(self, queues: Iterable[Queue] = ()) -> None:
        self._by_number = {queue.number: queue for queue in queues}
        self._by_name = {queue.name: queue for queue in self._by_number.values()}
        self._by_route = {
            _step_of(route): queue.number
            for queue in self._by_number.values()
            for route in queue.settings.routes
        }
        self._found: dict[tuple[str, str], int] = {}
        self._limited = frozenset(
            number for number in self._by_number if any(each.is_limited for each in self.chain(number))
        )
        self.has_limits = bool(self._limited)
        self.has_priorities = any(each.settings.priority is not Priority.NORMAL for each in self)

    def __bool__(self) -> bool:
        return bool(self._by_number)

    def __iter__(self) -> Iterator[Queue]:
        return iter(self._by_number.values())

    def of(self, flow: str, step: str) -> int:
        """Where calls of this step's handlers stand; 0: in no queue."""
        found = self._found.get((flow, step))
        if found is None:
            routes = ((flow, step), (flow, ""), (EVERYTHING, ""))
            found = next((self._by_route[each] for each in routes if each in self._by_route), 0)
            self._found[flow, step] = found
        return found

    def is_limited(self, number: int) -> bool:
        return number in self._limited

    def get(self, number: int) -> Queue | None:
        return self._by_number.get(number)

    def named(self, name: str) -> Queue | None:
        return self._by_name.get(name)

    def chain(self, number: int) -> list[Queue]:
        """The queue, and the one that it stands within."""
        queue = self._by_number.get(number)
        if queue is None:
            return []
        outer = self._by_name.get(queue.settings.within or "")
        return [queue] if outer is None else [queue, outer]

    def family(self, number: int) -> list[int]:
        """The queue, and those that stand within it."""
        queue = self._by_number.get(number)
        name = queue.name if queue is not None else None
        return [number, *(each.number for each in self if each.settings.within == name)]


NO_QUEUES = Queues()


def demand_name(name: str) -> None:
    """Raises UsageError."""
    if _NAME.match(name) is None:
        raise UsageError(f"`{name}` cannot name a queue: letters, digits, - and _, first no digit")


def demand_fitting(queues: Queues, name: str, settings: QueueSettings) -> None:
    """Raises UsageError when settings contradict those of the other queues."""
    for other in queues:
        if other.name == name:
            continue
        if both := sorted(set(other.settings.routes) & set(settings.routes)):
            raise UsageError(f"`{both[0]}` is a route of the queue {other.name}; it can be in one queue only")
        if other.settings.within == name and settings.within is not None:
            raise UsageError(f"{other.name} stands within {name}, which cannot stand within another queue")
    if settings.within is None:
        return
    outer = queues.named(settings.within)
    if outer is None or outer.name == name:
        raise UsageError(f"there is no other queue {settings.within} to stand within; set it first")
    if outer.settings.within is not None:
        raise UsageError(f"{outer.name} stands within {outer.settings.within}: queues nest one deep")


def encode_settings(settings: QueueSettings) -> str:
    return msgspec.json.encode(settings).decode()


def queues_of(rows: Iterable[tuple[int, str, str]]) -> Queues:
    """Of number, name and settings."""
    known = tuple(map(tuple, rows))
    return _queues_of(known) if known else NO_QUEUES


@lru_cache(maxsize=8)
def _queues_of(rows: tuple[tuple[int, str, str], ...]) -> Queues:
    return Queues(
        Queue(number, name, msgspec.json.decode(settings, type=QueueSettings))
        for number, name, settings in rows
    )


def _step_of(route: str) -> tuple[str, str]:
    flow, _, step = route.partition("/")
    return flow, TIMEOUT_STEP if step == DEADLINE else step
