"""Which candidate of a wait holds, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.core.rounds import DraftRound
from orchestrator.core.state import PendingCondition, QueueKey, Wait
from orchestrator.core.waits import Win, find_win

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def channel(minimum: int, maximum: int | None, name: str = "c") -> PendingCondition:
    return PendingCondition(f"{name}{minimum}", "channel", name, None, minimum, maximum)


def timer(seconds: float) -> PendingCondition:
    return PendingCondition("timer", "timer", fires_at=NOW + timedelta(seconds=seconds))


def win_of(
    conditions: list[PendingCondition], groups: list[tuple[int, ...]], sizes: Mapping[str, int]
) -> Win | None:
    def size(key: QueueKey) -> int:
        return sizes.get(key[0], 0)

    def no_round(round: str) -> DraftRound:
        raise AssertionError(round)

    return find_win(Wait(1, "", tuple(conditions), tuple(groups)), NOW, size, no_round)


@pytest.mark.rule(75)
@pytest.mark.parametrize(("size", "counts"), [(3, None), (4, {0: 2, 1: 2}), (5, {0: 2, 1: 2})])
def test_two_exact_conditions_on_one_channel_need_the_sum(size: int, counts: dict[int, int] | None) -> None:
    win = win_of([channel(2, 2), channel(2, 2)], [(0, 1)], {"c": size})
    assert (win.counts if win else None) == counts


@pytest.mark.rule(75)
@pytest.mark.parametrize(("size", "counts"), [(1, None), (2, {0: 2, 1: 0}), (3, {0: 2, 1: 1})])
def test_take_all_never_eats_the_minimum_of_another(size: int, counts: dict[int, int] | None) -> None:
    win = win_of([channel(2, 2), channel(0, None)], [(0, 1)], {"c": size})
    assert (win.counts if win else None) == counts


@pytest.mark.rule(75)
def test_leftovers_are_handed_out_in_declared_order() -> None:
    win = win_of([channel(1, 3), channel(1, None), channel(0, 5)], [(0, 1, 2)], {"c": 6})
    assert win is not None
    assert win.counts == {0: 3, 1: 3, 2: 0}


@pytest.mark.rule(66)
def test_any_of_takes_the_first_feasible_candidate() -> None:
    win = win_of([channel(3, 3), channel(1, 1, "d")], [(0,), (1,)], {"c": 2, "d": 1})
    assert win is not None
    assert win.winners == (1,)
    assert win.counts == {1: 1}


@pytest.mark.rule(67)
def test_a_pending_timer_and_a_short_channel_hold_nothing() -> None:
    assert win_of([timer(1), channel(2, 2)], [(0,), (1,)], {"c": 1}) is None


@pytest.mark.rule(66)
def test_a_fired_timer_wins_and_consumes_nothing() -> None:
    win = win_of([timer(0), channel(1, 1)], [(0,), (1,)], {"c": 1})
    assert win is not None
    assert (win.winners, win.fired, win.counts) == ((0,), (0,), {})


@pytest.mark.rule(68)
def test_all_of_takes_nothing_before_its_timer_has_fired() -> None:
    conditions = [channel(1, 1), timer(5)]
    assert win_of(conditions, [(0, 1)], {"c": 1}) is None


@pytest.mark.rule(65)
def test_any_combination_skips_an_infeasible_group() -> None:
    conditions = [timer(5), channel(1, 1), channel(1, 1, "d")]
    win = win_of(conditions, [(0, 1), (1, 2)], {"c": 1, "d": 1})
    assert win is not None
    assert win.winners == (1, 2)


@pytest.mark.rule(63)
def test_a_wait_without_conditions_holds_at_once() -> None:
    assert win_of([], [], {}) == Win((), (), {})


@pytest.mark.rule(80)
def test_a_timer_that_fired_without_winning_is_reported_as_fired() -> None:
    conditions = [timer(0), channel(1, 1), channel(1, 1, "d")]
    win = win_of(conditions, [(0, 2), (1,)], {"c": 1})
    assert win is not None
    assert (win.winners, win.fired) == ((1,), (0,))


@pytest.mark.rule(64)
def test_looking_never_changes_what_is_available() -> None:
    sizes = {"c": 4}
    for _ in range(2):
        win = win_of([channel(2, 2), channel(0, None)], [(0, 1)], sizes)
        assert win is not None
        assert win.counts == {0: 2, 1: 2}
    assert sizes == {"c": 4}
