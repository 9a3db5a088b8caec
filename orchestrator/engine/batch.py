"""One transaction in the making: the events applied so far, and what they mean for rows and for work."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from orchestrator.core import changes as c
from orchestrator.core.codec import kind_of
from orchestrator.core.events import (
    Event,
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    LocksRequested,
    TimerDue,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.migration.event import RunMigrated
from orchestrator.core.pauses import NO_PAUSES
from orchestrator.core.state import Execution, Phase, Status
from orchestrator.core.tasks import TaskKind, task_of
from orchestrator.core.transition import decide, evolve
from orchestrator.core.travel import TimeTravelled
from orchestrator.definition.model import Flow
from orchestrator.engine.cache import Entry
from orchestrator.engine.submission import Receipt
from orchestrator.engine.task import Task, internal_failure
from orchestrator.engine.workplace import Workplace
from orchestrator.store.contract import HistoryRow, Transaction
from orchestrator.store.queues import NO_QUEUES
from orchestrator.store.rows import RunRows, history_row
from orchestrator.store.writes import Writes

log = logging.getLogger("orchestrator.engine")

MAXIMUM_EVENTS = 512
Letter: TypeAlias = c.ChildRequested | c.ChildAbandoned | c.RunClosed
"""What another run has to learn."""
SyncedOf: TypeAlias = Callable[[Flow], frozenset[str]]
"""Names of the attributes that are projected to an attribute store."""


class Applied(Struct, frozen=True, gc=False):
    """One event that was applied."""

    entry: Entry
    event: Event | TimeTravelled | RunMigrated
    changes: list[c.Change]


class Post(Protocol):
    """See children.py."""

    def deliver(self, sender: Entry, letter: Letter) -> None: ...

    def knows_children(self, parent: Entry, execution_id: str) -> bool:
        """The flows that the next wait of this execution starts, if it starts any."""
        ...


class Batch:
    def __init__(self, now: datetime, workplace: Workplace | None) -> None:
        self.now = now
        self.pauses = NO_PAUSES
        self.queues = NO_QUEUES
        self.admitted: set[tuple[int, str]] = set()
        """Work of limited queues that may be begun, by run and execution."""
        self.has_freed_slot = False
        """A handler of a limited queue has ended: others may begin one."""
        self.entries: dict[int, Entry] = {}
        """Runs that changed."""
        self.placed: dict[tuple[int, str], Task] = {}
        """Work that this process leases to itself, by run and execution."""
        self.ended: dict[Task, None] = {}
        """Tasks whose reports are part of it, in order."""
        self.ended_call_count = 0
        """Those of them that had handler threads."""
        self.receipts: list[tuple[Receipt, Any]] = []
        self.refused: list[tuple[Receipt, BaseException]] = []
        self.next_due_at: datetime | None = None
        self.has_left_work = False
        """Work is due that nobody has leased."""
        self.stored_definitions: list[tuple[str, int]] = []
        """Hash, and epoch of the transaction."""
        self.has_closed_runs = False
        self.has_failures = False
        """An attempt, a wait, a step or a run has failed."""
        self.has_projections = False
        """Values of synced attributes are on their way."""
        self.event_count = 0
        self.applied: list[Applied] = []
        """For those who count and tell."""
        self.origins: dict[int, Any] = {}
        """Spans of those who called RPCs, by identity of the event that came of it."""
        self._workplace = workplace
        self._rows: dict[int, RunRows] = {}
        self._history: list[tuple[Any, ...]] = []
        self._pending: deque[tuple[Entry, str]] = deque()
        self._letters: deque[tuple[Entry, Letter]] = deque()

    # --- Applying events ---

    def apply(self, entry: Entry, event: Event) -> bool:
        """Decide and evolve; False when the event is stale. Raises what `decide` refuses with."""
        changes = decide(entry.flow, entry.run, event)
        if not changes:
            return False
        self.record(entry, event, changes)
        return True

    def redefine(self, entry: Entry, flow: Flow, changes: list[c.Change]) -> None:
        """The commit that moves a run to another definition."""
        self.record(entry, RunMigrated(at=self.now), changes)
        entry.redefine(flow)
        self._rows[entry.number].flow = flow
        self.has_left_work = True  # workers that do not know the old definition may know the new one

    def record(
        self, entry: Entry, event: Event | TimeTravelled | RunMigrated, changes: list[c.Change]
    ) -> None:
        """One commit of a run."""
        number, run = entry.number, entry.run
        rows = self._rows.get(number)
        if rows is None:
            rows = self._rows[number] = RunRows(number, run, entry.flow)
            self.entries[number] = entry
        evolve(run, changes)
        rows.note(changes)
        self._history.append(history_row(number, run.version, event.at, event, changes))
        self.event_count += 1
        self.applied.append(Applied(entry, event, changes))
        if self.queues.has_limits:
            self._note_slots(entry, changes)
        for change in changes:
            follow = _FOLLOW.get(type(change))
            if follow is not None:
                follow(self, entry, change)

    def _note_slots(self, entry: Entry, changes: list[c.Change]) -> None:
        for change in changes:
            if isinstance(change, c.RunClosed | c.RunRestored | c.DefinitionChanged):
                self.has_freed_slot = True
            elif isinstance(change, _ENDS_CALL):
                step = change.execution_id.rpartition("-")[0]
                if self.queues.is_limited(self.queues.of(entry.flow.name, step)):
                    self.has_freed_slot = True

    def end(self, task: Task) -> None:
        """Its handler has ended."""
        self.ended[task] = None
        if not task.is_elsewhere:
            self.ended_call_count += 1

    # --- What a change makes to be done ---

    def _follow_queued(self, entry: Entry, change: c.StepQueued) -> None:
        if change.execution.failure is not None:
            self.has_failures = True  # of the execution that it recovers
        self._pending.append((entry, change.execution.id))

    def _follow_work(self, entry: Entry, change: Any) -> None:
        self._pending.append((entry, change.execution_id))

    def _follow_failure(self, entry: Entry, change: c.AttemptFailed | c.WaitSkipped) -> None:
        self.has_failures = True
        self._pending.append((entry, change.execution_id))

    def _follow_closed(self, entry: Entry, change: c.RunClosed) -> None:
        self.has_closed_runs = True
        self.has_failures = self.has_failures or change.status == Status.FAILED
        self._letters.append((entry, change))

    def _follow_letter(self, entry: Entry, change: Letter) -> None:
        self._letters.append((entry, change))

    def _follow_restored(self, entry: Entry, _: c.RunRestored) -> None:
        for key in [key for key in self.placed if key[0] == entry.number]:
            del self.placed[key]
        self._pending.extend((entry, execution_id) for execution_id in entry.run.executions)

    def _follow_redefined(self, entry: Entry, change: c.DefinitionChanged) -> None:
        self._pending.extend((entry, execution_id) for execution_id in change.moved.values())

    def supersede(self, transaction: Transaction, entry: Entry) -> None:
        """Another run of the flow id is now the latest."""
        rows = self._rows.get(entry.number)
        if rows is not None and rows.is_new:
            rows.is_latest = False
        else:
            transaction.supersede(entry.number)
        entry.is_latest = False

    def follow_up(self, post: Post) -> None:
        """Deliver all letters; do at once what is due and needs no handler; place what does."""
        while self._letters or (self._pending and self.event_count < MAXIMUM_EVENTS):
            if self._letters:
                post.deliver(*self._letters.popleft())
                continue
            entry, execution_id = self._pending.popleft()
            if self._workplace is None and not post.knows_children(entry, execution_id):
                self.has_left_work = True  # a worker may know them
            else:
                self.attend(entry, execution_id)
        self.has_left_work = self.has_left_work or bool(self._pending)

    def attend(self, entry: Entry, execution_id: str) -> bool:
        """See to one execution. False: there was something to do, and it came to nothing."""
        execution = entry.run.executions.get(execution_id)
        if execution is None or execution.due_at is None:
            return True
        if execution.due_at > self.now:
            self.note_due(execution.due_at)
            return False
        if self.pauses.targets and self.pauses.covers(entry.flow.name, execution.step):
            return False
        kind = task_of(entry.flow, execution)
        if kind is TaskKind.CALL_EXECUTE or kind is TaskKind.CALL_WAIT_FOR:
            return self._hand_out(entry, execution)
        return self._do(entry, execution, kind)

    def _may_begin(self, entry: Entry, execution: Execution) -> bool:
        """Work of a limited queue is claimed from there, where others may come first."""
        if not self.queues.is_limited(self.queue_of(entry, execution)):
            return True
        return (entry.number, execution.id) in self.admitted

    def queue_of(self, entry: Entry, execution: Execution) -> int:
        """Where a call of its handler stands."""
        if not self.queues or execution.phase is Phase.WAITING or execution.due_at is None:
            return 0
        return self.queues.of(entry.flow.name, execution.step)

    def note_due(self, due_at: datetime) -> None:
        if self.next_due_at is None or due_at < self.next_due_at:
            self.next_due_at = due_at

    def _hand_out(self, entry: Entry, execution: Execution) -> bool:
        key = (entry.number, execution.id)
        if key in self.placed:
            return True
        task = None
        if self._workplace is not None and (not self.queues.has_limits or self._may_begin(entry, execution)):
            task = self._workplace.place(entry, execution, len(self.placed), self.ended_call_count)
        if task is None:
            self.has_left_work = True
            return False
        self.placed[key] = task
        return True

    def _do(self, entry: Entry, execution: Execution, kind: TaskKind) -> bool:
        try:
            return self.apply(entry, _event_of(kind, execution, self.now))
        except Exception as error:
            log.exception("run %s: %s of %s cannot be decided", entry.run.flow_id, kind, execution.id)
            failure = internal_failure(error)
        if kind is TaskKind.FIRE_TIMER:
            return True  # stays leased here, so that it is not tried again and again
        return self.apply(entry, _failed(execution, failure, self.now))

    # --- Result ---

    @property
    def is_empty(self) -> bool:
        return not self._history

    def writes(self, synced_of: SyncedOf) -> Writes:
        writes = Writes()
        writes["insert_history"] = self._history
        for rows in self._rows.values():
            rows.write(writes, self._place_of)
            if synced := synced_of(rows.flow):
                rows.project(writes, synced)
        self.has_projections = "insert_projection" in writes
        return writes

    def history_of(self, number: int) -> list[HistoryRow]:
        """The commits of a run that are part of it."""
        rows = (row[1:] for row in self._history if row[0] == number)
        return [HistoryRow(version, at, kind_of(kind), *rest) for version, at, kind, *rest in rows]

    def _place_of(self, number: int, execution: Execution) -> tuple[int | None, int, int | None]:
        """Worker, queue and rank (rows.py)."""
        entry = self.entries[number]
        queue = self.queue_of(entry, execution) if self.queues else 0
        task = self.placed.get((number, execution.id))
        if task is None:
            task = entry.held.get(execution.id)
            if task is None or task in self.ended or not task.is_for(entry.run, execution):
                return None, queue, self._rank(entry, execution)
        return task.worker, queue, None

    def _rank(self, entry: Entry, execution: Execution) -> int | None:
        if execution.due_at is None or execution.due_at > self.now or execution.phase is Phase.WAITING:
            return None
        rank = entry.waiting_count
        entry.waiting_count += 1
        return rank


_ENDS_CALL = (c.StepEnded, c.AttemptFailed, c.WaitAccepted, c.WaitSatisfied, c.WaitSkipped)
_FOLLOW: dict[type, Callable[[Batch, Entry, Any], None]] = {
    c.StepQueued: Batch._follow_queued,
    c.WaitAccepted: Batch._follow_work,
    c.WaitSatisfied: Batch._follow_work,
    c.WaitSkipped: Batch._follow_failure,
    c.TimersFired: Batch._follow_work,
    c.AttemptFailed: Batch._follow_failure,
    c.LocksTaken: Batch._follow_work,
    c.RetryDue: Batch._follow_work,
    c.TimeoutHandlerBegun: Batch._follow_work,
    c.ChildRequested: Batch._follow_letter,
    c.ChildAbandoned: Batch._follow_letter,
    c.RunClosed: Batch._follow_closed,
    c.RunRestored: Batch._follow_restored,
    c.DefinitionChanged: Batch._follow_redefined,
}


def _event_of(kind: TaskKind, execution: Execution, at: datetime) -> Event:
    if kind is TaskKind.EVALUATE_WAIT:
        return WaitForSucceeded(at=at, execution_id=execution.id, attempt=execution.attempt)
    if kind is TaskKind.FIRE_TIMER:
        return TimerDue(at=at, execution_id=execution.id)
    if kind is TaskKind.TAKE_LOCKS:
        return LocksRequested(at=at, execution_id=execution.id, attempt=execution.attempt)
    return ExecuteSucceeded(at=at, execution_id=execution.id, attempt=execution.attempt)


def _failed(execution: Execution, failure: Failure, at: datetime) -> Event:
    event = WaitForFailed if execution.phase is Phase.WAIT_FOR else ExecuteFailed
    return event(at=at, execution_id=execution.id, attempt=execution.attempt, failure=failure)
