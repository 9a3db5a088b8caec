"""What the dispatcher remembers of work that it was told of."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from orchestrator.engine.dispatch import Dispatcher
from orchestrator.engine.engine import Engine
from orchestrator.engine.seat import Seat
from orchestrator.engine.task import Task
from orchestrator.engine.worker import Worker
from orchestrator.store.queues import Priority, Queue, Queues, QueueSettings


@pytest.fixture
def dispatcher() -> Iterator[Dispatcher]:
    engine = Engine("sqlite://")
    dispatcher = Worker(engine)._dispatcher
    dispatcher.is_open = True
    yield dispatcher
    engine.close()


def test_a_claim_that_found_nothing_ends_the_search(dispatcher: Dispatcher) -> None:
    dispatcher.look_for_work()
    assert dispatcher.begin_claim() > 0
    dispatcher.note_work(has_more=False, due_at=None)
    assert dispatcher.wanted() == 0


@pytest.mark.parametrize("others_look", [False, True])
def test_what_comes_while_a_claim_is_under_way_is_looked_for_again(
    dispatcher: Dispatcher, others_look: bool
) -> None:
    dispatcher.look_for_work()
    assert dispatcher.begin_claim() > 0
    dispatcher.look_for_work()
    if others_look:
        assert dispatcher.wanted() > 0
    dispatcher.note_work(has_more=False, due_at=None)
    assert dispatcher.wanted() > 0


def test_what_becomes_due_while_a_claim_is_under_way_is_looked_for_again(dispatcher: Dispatcher) -> None:
    dispatcher.look_for_work()
    assert dispatcher.begin_claim() > 0
    dispatcher._look(is_due=True)
    dispatcher.note_work(has_more=False, due_at=None)
    assert dispatcher.wanted() > 0


@pytest.mark.parametrize("priority", Priority)
def test_less_work_is_held_ahead_once_a_queue_has_a_priority(
    dispatcher: Dispatcher, priority: Priority
) -> None:
    for _ in range(100):
        dispatcher._pace.note("some", 0.01)
    dispatcher.look_for_work()
    usual = dispatcher.wanted()
    dispatcher.note_queues(Queues([Queue(1, "line", QueueSettings(priority=priority))]))
    assert (dispatcher.wanted() < usual) is (priority is not Priority.NORMAL)
    dispatcher.note_queues(Queues())
    assert dispatcher.wanted() == usual


def test_whoever_comes_while_a_leader_is_on_its_way_calls_nobody_else(dispatcher: Dispatcher) -> None:
    sleepers = dispatcher._sleepers
    sleepers._seats.extend([Seat(), Seat()])
    assert not dispatcher.leads_soon()
    assert dispatcher.take_over()
    assert dispatcher.leads_soon()
    assert len(sleepers) == 1
    sleepers.rest(Seat(), lambda: True, lambda: None)
    assert not dispatcher.leads_soon(), "it is there, and may have looked already"


def test_nobody_relies_on_a_leader_when_all_are_awake(dispatcher: Dispatcher) -> None:
    assert not dispatcher.take_over()
    assert not dispatcher.leads_soon()


INSTANT, SLOW = "instant", "slow"


@pytest.mark.parametrize(
    ("ready", "seats", "leads"),
    [
        ([], [INSTANT], False),
        ([SLOW], [INSTANT], False),
        ([INSTANT], [INSTANT], True),
        ([INSTANT], [SLOW], False),
        ([INSTANT], [SLOW, INSTANT], True),
        ([INSTANT], [None], True),
        ([INSTANT], ["asleep"], False),
        ([INSTANT], [SLOW, "asleep"], False),
        ([INSTANT], [], False),
    ],
)
def test_a_thread_leads_soon_that_is_awake_with_only_instants_before_it(
    dispatcher: Dispatcher, ready: list[str], seats: list[str | None], leads: bool
) -> None:
    dispatcher._pace.note(INSTANT, 0.00001)
    dispatcher._pace.note(SLOW, 0.1)
    dispatcher._ready.put(cast(list[Task], [SimpleNamespace(handler=name) for name in ready]))
    for name in seats:
        seat = Seat()
        dispatcher._seats.append(seat)
        if name == "asleep":
            dispatcher._sleepers._seats.append(seat)
        elif name is not None:
            seat.task = cast(Task, SimpleNamespace(handler=name))
    assert dispatcher.leads_soon() is leads
    assert (dispatcher.watch._mind_at is not None) is leads, "if it takes longer, somebody looks"
