from orchestrator.core.state import Execution
from orchestrator.engine.ready import CROWD, Ready
from orchestrator.engine.task import Task, task_of_call
from tests.support.calls import bound


def tasks(count: int, run: int = 1) -> list[Task]:
    handler = bound(lambda: None)
    return [
        task_of_call(run, Execution(step="Charge", number=number, origin="__start__"), handler, 1)
        for number in range(count)
    ]


def test_work_is_taken_in_order() -> None:
    ready, put = Ready(), tasks(3 * CROWD)
    ready.put(put)
    assert [ready.take() for _ in put] == put
    assert ready.take() is None


def test_others_do_not_wait_behind_thousands() -> None:
    ready, (other,) = Ready(), tasks(1, run=2)
    ready.put(tasks(50 * CROWD))
    ready.take()
    ready.put([other])
    taken = [ready.take() for _ in range(CROWD)]
    assert taken.index(other) == CROWD - 1


def test_the_line_is_empty_only_if_nothing_stands_behind_it() -> None:
    ready = Ready()
    ready.put(tasks(CROWD + 2))
    while ready.take() is not None:
        assert ready.line or not ready.reserve


def test_all_that_has_not_begun_can_be_taken_back() -> None:
    ready, put = Ready(), tasks(CROWD + 5)
    ready.put(put)
    assert ready.take_reserve() == put[CROWD:]
    assert ready.take_all() == put[:CROWD]
    assert (ready.take(), ready.take_all()) == (None, [])
