"""What the dispatcher remembers of work that it was told of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.engine.dispatch import Dispatcher
from orchestrator.engine.engine import Engine
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
