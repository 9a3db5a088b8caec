"""A place that the search comes by again and again: what its events depend on, and those already decided."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from orchestrator.core.state import QueueKey, Wait
from orchestrator.verify.state import Counts, Outcome, State

Bounds: TypeAlias = dict[int, tuple[int, int]]
"""By queue: with fewer messages than the first nothing is taken, and never more than the second."""


@dataclass(slots=True)
class Site:
    key: Callable[[State], Hashable]
    """States with equal ones have the same events here."""
    find: Callable[[State], Iterable[Outcome]]
    known: dict[Hashable, tuple[Outcome, ...]] = field(default_factory=dict)


def bounds_of(wait: Wait, queue_number: Callable[[QueueKey], int]) -> Bounds:
    found: Bounds = {}
    for group in wait.groups:
        for number, (least, most) in _bounds_of_group(wait, group, queue_number).items():
            before = found.get(number, (least, most))
            found[number] = min(least, before[0]), max(most, before[1])
    return found


def _bounds_of_group(wait: Wait, group: Iterable[int], queue_number: Callable[[QueueKey], int]) -> Bounds:
    """Conditions on one queue compete for its messages."""
    found: Bounds = {}
    for condition in (wait.conditions[index] for index in group):
        if condition.channel is not None:
            number = queue_number((condition.channel, condition.key))
            least, most = found.get(number, (0, 0))
            maximum = sys.maxsize if condition.maximum is None else condition.maximum
            found[number] = least + condition.minimum, most + maximum
    return found


def within(bounds: Bounds, queues: Counts) -> Counts:
    """The messages that can matter."""
    found: Counts = ()
    for number, count in queues:
        bound = bounds.get(number)
        if bound is not None and count >= bound[0]:
            found += ((number, min(count, bound[1])),)
    return found
