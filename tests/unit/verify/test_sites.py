"""Of the messages in a queue, as many are looked at as a wait could take: what it takes stays the same."""

from __future__ import annotations

from itertools import product

import pytest

from orchestrator.core.rounds import DraftRound
from orchestrator.core.state import PendingCondition, QueueKey, Wait
from orchestrator.core.waits import Win, win_of
from orchestrator.verify.sites import bounds_of, within
from orchestrator.verify.state import Counts

QUEUES: list[QueueKey] = [("a", None), ("b", None), ("c", None)]


def condition(channel: str, minimum: int, maximum: int | None) -> PendingCondition:
    return PendingCondition(channel, "channel", channel, None, minimum, maximum)


ONE_OF_A = condition("a", 1, 1)
TWO_OF_A = condition("a", 2, 2)
ANY_OF_B = condition("b", 0, None)
SOME_OF_B = condition("b", 2, 3)
TIMER = PendingCondition("late", "timer")
WAITS: dict[str, tuple[list[PendingCondition], list[tuple[int, ...]]]] = {
    "one": ([ONE_OF_A], [(0,)]),
    "a range": ([SOME_OF_B], [(0,)]),
    "without limit": ([ANY_OF_B], [(0,)]),
    "two that compete": ([ONE_OF_A, TWO_OF_A], [(0, 1)]),
    "either": ([TWO_OF_A, SOME_OF_B], [(0,), (1,)]),
    "more or fewer of one": ([ONE_OF_A, TWO_OF_A, SOME_OF_B], [(1, 2), (0,)]),
    "or a timer": ([TWO_OF_A, TIMER], [(0,), (1,)]),
    "a range and what is there": ([SOME_OF_B, ANY_OF_B, ONE_OF_A], [(0, 1), (2,)]),
}


def wins(wait: Wait, queues: Counts) -> list[Win | None]:
    sizes = {QUEUES[number]: count for number, count in queues}

    def no_round(name: str) -> DraftRound:
        raise AssertionError(name)

    def size(key: QueueKey) -> int:
        return sizes.get(key, 0)

    return [win_of(wait, group, (1,), size, no_round) for group in wait.groups]


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_takes_the_same_of_what_matters_as_of_what_is_there(name: str) -> None:
    conditions, groups = WAITS[name]
    wait = Wait(0, "any_of", tuple(conditions), tuple(groups), None)
    bounds = bounds_of(wait, QUEUES.index)
    for sizes in product(range(6), repeat=len(QUEUES)):
        queues = tuple((number, count) for number, count in enumerate(sizes) if count)
        assert wins(wait, within(bounds, queues)) == wins(wait, queues), queues


def test_what_is_too_little_or_too_much_makes_no_difference() -> None:
    wait = Wait(0, "until", (TWO_OF_A,), ((0,),), None)
    bounds = bounds_of(wait, QUEUES.index)
    seen = {count: within(bounds, ((0, count), (1, 7))) for count in range(1, 5)}
    assert seen == {1: (), 2: ((0, 2),), 3: ((0, 2),), 4: ((0, 2),)}
