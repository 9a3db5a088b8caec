"""What a worker that died had in hand (rule 156)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestrator.core.events import ExecuteFailed, Failure
from orchestrator.core.state import Execution, Phase
from orchestrator.engine.task import failed, task_of_call
from tests.support.calls import bound

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.rule(156)
@pytest.mark.parametrize(("is_lost", "has_started"), [(False, False), (True, True)])
def test_nobody_can_say_that_lost_work_never_began(is_lost: bool, has_started: bool) -> None:
    execution = Execution(step="Charge", number=1, origin="__start__", phase=Phase.EXECUTE)
    task = task_of_call(1, execution, bound(lambda: None), worker=2)
    task.is_lost = is_lost
    event = failed(task, Failure(type="Gone", message="not begun here", has_started=False), NOW)
    assert isinstance(event, ExecuteFailed)
    assert event.failure.has_started is has_started
