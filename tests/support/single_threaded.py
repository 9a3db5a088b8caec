"""A worker without threads: handlers run one after the other, commits happen when asked for.

What it costs can be counted to the last call, whatever else the machine does.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

from orchestrator.binding.context import NO_SERVICES
from orchestrator.core.state import Execution
from orchestrator.engine import leases
from orchestrator.engine.cache import Entry
from orchestrator.engine.engine import Engine
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.shares import Shares
from orchestrator.engine.submission import Report
from orchestrator.engine.task import Task, succeeded, task_of_call
from orchestrator.store.queues import Queues


class SingleThreaded:
    """A workplace (engine/workplace.py) with room for everything; it claims nothing."""

    def __init__(self, engine: Engine) -> None:
        self.tasks: list[Task] = []
        self._committer = engine.committer
        self._handlers = Handlers()
        self._worker = 0
        engine.committer.exclusively(self._register, "lease")
        engine.committer.workplace = self

    def work(self) -> int:
        """Call what is ready and commit all of it together; how much it was."""
        tasks, self.tasks = self.tasks, []
        for task in tasks:
            assert task.snapshot is not None
            returned = task.bound.invoke(task.snapshot, NO_SERVICES)
            assert task.end()
            self._committer.submit(Report(task, partial(succeeded, task, returned)))
        self._committer.lead()
        return len(tasks)

    def _register(self, transaction: object, now: datetime) -> None:
        self._worker = leases.register(transaction, now)  # type: ignore[arg-type]

    # --- Workplace ---

    def wanted(self) -> int:
        return 0

    def begin_claim(self) -> int:
        return 0

    def claimer(self) -> int:
        return self._worker

    def excluded(self, *, is_named: bool = False) -> list[str]:
        return []

    def note_queues(self, queues: Queues) -> None:
        pass

    def startable(self) -> int:
        return 1

    def shares(self, queues: Queues) -> Shares:
        raise AssertionError("nothing is claimed")

    def place(self, entry: Entry, execution: Execution, placed_count: int, ended_count: int) -> Task | None:
        bound = self._handlers.of(entry.flow, execution)
        return None if bound is None else task_of_call(entry.number, execution, bound, self._worker)

    def accept(self, tasks: list[Task], *, by_dispatcher: bool) -> None:
        self.tasks.extend(tasks)

    def forget(self, tasks: list[Task]) -> None:
        pass

    def note_work(self, *, has_more: bool | None, due_at: datetime | None) -> None:
        pass

    def leads_soon(self) -> bool:
        return False

    def nudge(self) -> bool:
        return False

    def take_over(self) -> bool:
        return False

    def calls_for_work(self) -> bool:
        return False

    def note_kept_back(self) -> None:
        pass

    def note_given_up(self) -> None:
        pass

    def retry_at(self, at: datetime) -> None:
        pass
