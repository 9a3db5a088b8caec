"""What the committer asks of the place where handlers run."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from orchestrator.core.state import Execution
from orchestrator.engine.cache import Entry
from orchestrator.engine.shares import Shares
from orchestrator.engine.task import Task
from orchestrator.store.queues import Queues


class Workplace(Protocol):
    """Where handlers run in this process; without one, work is left for others."""

    def wanted(self) -> int:
        """How many more tasks to claim now; 0 when there is nothing to claim or no room."""
        ...

    def begin_claim(self) -> int:
        """The same, of who claims them now: `note_work` tells what came of it."""
        ...

    def claimer(self) -> int: ...

    def excluded(self, *, is_named: bool = False) -> list[str]:
        """What is left to others: definitions that cannot be bound here, work that is not served.

        `is_named`: of a queue of which all work is served.
        """
        ...

    def note_queues(self, queues: Queues) -> None:
        """As they are now."""
        ...

    def shares(self, queues: Queues) -> Shares:
        """Of which queues to claim now."""
        ...

    def place(self, entry: Entry, execution: Execution, placed_count: int, ended_count: int) -> Task | None:
        """A task for it, or None when there is no room or no handler. The batch has placed so many before,
        and ended so many calls of handler threads.
        """
        ...

    def accept(self, tasks: list[Task], *, by_dispatcher: bool) -> None:
        """Leased and ready to run. `by_dispatcher`: it has committed itself, and wakes whom it needs."""
        ...

    def forget(self, tasks: list[Task]) -> None:
        """Their leases have ended."""
        ...

    def note_work(self, *, has_more: bool | None, due_at: datetime | None) -> None:
        """Unleased work is there, or will be due; `has_more` None: not looked at."""
        ...

    def calls_for_work(self) -> bool:
        """Nothing was found: may other workers have more than they need?"""
        ...

    def note_kept_back(self) -> None:
        """Work is due, and others keep it from being claimed for this instant."""
        ...

    def note_given_up(self) -> None:
        """Others have taken this worker for dead: it needs a new lease."""
        ...

    def leads_soon(self) -> bool:
        """A thread commits in an instant, when what is ready is done."""
        ...

    def take_over(self) -> bool:
        """Let a thread commit what is there; False: none could at once."""
        ...

    def nudge(self) -> bool:
        """There is something to commit: let a thread see to it. False: there is none, work is over."""
        ...

    def retry_at(self, at: datetime) -> None:
        """Lead a commit then."""
        ...
