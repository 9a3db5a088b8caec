"""A run as it will be after the changes decided so far: reads fall through to the run, which stays untouched.

Every method that changes something records exactly one change. The cost of a draft is that of its changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from msgspec.structs import replace

from orchestrator.core import changes as c
from orchestrator.core.events import Failure, Record
from orchestrator.core.groups import groups_of
from orchestrator.core.progress import (
    accepted,
    begin_execute,
    retried,
    satisfied,
    skipped,
    taken_messages,
    wait_queues,
    waiting_for_locks,
    with_child,
    with_fired_timers,
    with_locks,
)
from orchestrator.core.queues import DraftQueue
from orchestrator.core.rounds import DraftRounds
from orchestrator.core.state import (
    TIMEOUT_ID,
    Execution,
    Heartbeat,
    Output,
    PendingCondition,
    Phase,
    QueuedMessage,
    QueueKey,
    Run,
    RunError,
    Status,
)
from orchestrator.definition.model import Delivery, Flow, Json
from orchestrator.errors import ChannelFull


class Draft:
    """What one commit does to `run`, at time `at`."""

    __slots__ = (
        "_active_count",
        "_attributes",
        "_counters",
        "_executions",
        "_locks",
        "_map_entries",
        "_next_order",
        "_next_seq",
        "_queues",
        "_rounds",
        "_waiters",
        "at",
        "changes",
        "dirty_queues",
        "flow",
        "is_completing",
        "is_open",
        "released_locks",
        "run",
        "status",
        "touched_waits",
    )

    def __init__(self, flow: Flow, run: Run, at: datetime) -> None:
        self.flow = flow
        self.run = run
        self.at = at
        self.changes: list[c.Change] = []
        self.status = run.status
        self.is_open = run.status is Status.RUNNING
        self.is_completing = run.is_completing
        self.dirty_queues: dict[QueueKey, None] = {}
        """Queues that got messages since the waits were last looked at."""
        self.touched_waits: list[str] = []
        """Executions whose waits were accepted, had timers fire or children end."""
        self.released_locks: dict[str, None] = {}
        self._locks: dict[str, str | None] = {}
        self._executions: dict[str, Execution | None] = {}
        self._queues: dict[QueueKey, DraftQueue] = {}
        self._waiters: dict[QueueKey, list[str]] = {}
        self._attributes: dict[str, Json] = {}
        self._map_entries: dict[str, dict[str, Json]] = {}
        self._counters: dict[str, int] = {}
        self._next_seq = run.next_seq
        self._next_order = run.next_order
        self._active_count = len(run.executions)
        self._rounds: DraftRounds | None = None

    @property
    def rounds(self) -> DraftRounds:
        if self._rounds is None:
            self._rounds = DraftRounds(self.flow, self.run, self.changes)
        return self._rounds

    # --- Executions ---

    def execution(self, execution_id: str) -> Execution | None:
        """The active execution of this id."""
        if self._executions and execution_id in self._executions:
            return self._executions[execution_id]
        return self.run.executions.get(execution_id)

    @property
    def active_count(self) -> int:
        """What holds up completion; the timeout handler does not (rule 185)."""
        return self._active_count - (self.execution(TIMEOUT_ID) is not None)

    def active(self) -> list[Execution]:
        stored = [e for e in self.run.executions.values() if e.id not in self._executions]
        return stored + [e for e in self._executions.values() if e is not None]

    def active_of_step(self, step: str) -> list[Execution]:
        stored = groups_of(self.run).by_step.get(step, ())
        new = (e.id for e in self._executions.values() if e is not None and e.step == step)
        return self._alive(dict.fromkeys(chain(stored, new)))

    def active_of_origin(self, origin: str) -> list[Execution]:
        stored = groups_of(self.run).by_origin.get(origin, ())
        new = (e.id for e in self._executions.values() if e is not None and e.origin == origin)
        return self._alive(dict.fromkeys(chain(stored, new)))

    def active_in_round(self, round: str) -> list[Execution]:
        stored = groups_of(self.run).by_round.get(round, ())
        new = (e.id for e in self._executions.values() if e and any(p.round == round for p in e.line))
        return self._alive(dict.fromkeys(chain(stored, new)))

    def _alive(self, ids: dict[str, None]) -> list[Execution]:
        return [execution for i in ids if (execution := self.execution(i)) is not None]

    def waiting_on(self, key: QueueKey) -> Iterator[Execution]:
        """Waiting executions that a message there may satisfy, oldest accepted wait first."""
        stored, new = self.run.waiters.get(key, ()), self._waiters.get(key)
        for execution_id in chain(stored, tuple(new)) if new else stored:
            if (execution := self.execution(execution_id)) and execution.phase is Phase.WAITING:
                yield execution

    def queue_step(self, execution: Execution) -> None:
        self._counters[execution.step] = execution.number
        self._executions[execution.id] = execution
        self._active_count += 1
        self.changes.append(c.StepQueued(execution))
        if execution.line or execution.faces:
            self.rounds.begin(execution)

    def next_number(self, step: str) -> int:
        return self._counters.get(step, self.run.counters.get(step, 0)) + 1

    def accept_wait(
        self,
        execution: Execution,
        combinator: str,
        conditions: tuple[PendingCondition, ...],
        groups: tuple[tuple[int, ...], ...],
        due_at: datetime | None,
        locals: dict[str, Json],
    ) -> Execution:
        change = c.WaitAccepted(
            execution.id, self._next_order, combinator, conditions, groups, due_at, locals
        )
        self._next_order += 1
        execution = self._put(change, accepted(execution, change))
        self.touched_waits.append(execution.id)
        assert execution.wait is not None
        for key in wait_queues(execution.wait):
            self._waiters.setdefault(key, []).append(execution.id)
        return execution

    def fire_timers(
        self, execution: Execution, conditions: tuple[int, ...], due_at: datetime | None
    ) -> Execution:
        change = c.TimersFired(execution.id, conditions, due_at)
        self.touched_waits.append(execution.id)
        return self._put(change, with_fired_timers(execution, change))

    def satisfy_wait(
        self,
        execution: Execution,
        winners: tuple[int, ...],
        fired: tuple[int, ...],
        counts: dict[int, int],
    ) -> Execution:
        """End the wait; `counts`: how many messages each winning condition takes, in declared order."""
        wait = execution.wait
        assert wait is not None
        messages: dict[int, tuple[QueuedMessage, ...]] = {}
        for index, count in counts.items():
            condition = wait.conditions[index]
            assert condition.channel is not None
            messages[index] = tuple(self._queue((condition.channel, condition.key)).take(count))
        taken = [(index, tuple([m.seq for m in group])) for index, group in messages.items() if group]
        change = c.WaitSatisfied(execution.id, self.at, winners, fired, tuple(taken))
        self._abandon_children(execution)
        return self._put(change, satisfied(execution, change, messages, self.rounds.reported))

    def report_child(
        self,
        execution: Execution,
        condition: int,
        status: str,
        outputs: tuple[Json, ...],
        error: dict[str, Json] | None,
    ) -> None:
        change = c.ChildReported(execution.id, condition, status, outputs, error)
        self._put(change, with_child(execution, change))
        self.touched_waits.append(execution.id)

    def _abandon_children(self, execution: Execution) -> None:
        """The wait is over: children that it leaves running are stopped if it says so (rule 179)."""
        for condition in execution.wait.conditions if execution.wait else ():
            child = condition.child
            if child and child.status == Status.RUNNING and child.if_abandoned != "continue":
                self.changes.append(c.ChildAbandoned(child.flow_id, child.if_abandoned))

    def keep_heartbeat(self, execution: Execution, heartbeat: Heartbeat) -> None:
        self._put(c.HeartbeatKept(execution.id, heartbeat), replace(execution, heartbeat=heartbeat))

    def skip_wait(self, execution: Execution, failure: Failure, attempts: int) -> Execution:
        if execution.phase is Phase.WAITING:
            self._abandon_children(execution)
        change = c.WaitSkipped(execution.id, self.at, failure, attempts)
        return self._put(change, skipped(execution, change))

    def retry(
        self, execution: Execution, failure: Failure, due_at: datetime, first_attempt_at: datetime
    ) -> Execution:
        change = c.AttemptFailed(execution.id, due_at, failure, first_attempt_at)
        return self._put(change, retried(execution, change))

    def hasten(self, execution: Execution) -> None:
        self._put(c.RetryDue(execution.id, self.at), replace(execution, due_at=self.at))

    def begin_timeout_handler(self, execution: Execution) -> Execution:
        return self._put(c.TimeoutHandlerBegun(execution.id, self.at), begin_execute(execution, self.at))

    def remember_skip(self, execution_id: str, condition: str | int | None) -> None:
        self.changes.append(c.SkipRemembered(execution_id, condition))

    def skips(self, execution_id: str) -> tuple[str | int | None, ...]:
        """Timer skips that came before the timers of this execution."""
        return self.run.skips.get(execution_id, ())

    def end_step(
        self,
        execution: Execution,
        end: int,
        failure: Failure | None = None,
        decision: int | None = None,
        otherwise_count: int = 0,
    ) -> None:
        """The caller tells `rounds.end` what it reported and started."""
        execution_id = execution.id
        self.changes.append(c.StepEnded(execution_id, end, failure, decision, otherwise_count))
        if self._locks or self.run.locks:
            self._release_locks(execution_id)
        self._executions[execution_id] = None
        self._active_count -= 1

    def cancel(self, execution: Execution) -> None:
        """End it without effects; what its wait consumed goes back (rules 109, 110)."""
        self.return_messages(execution)
        if execution.phase is Phase.WAITING:
            self._abandon_children(execution)
        self.end_step(execution, c.CANCELLED)
        self.rounds.end(execution, (), ())

    def cancel_round(self, round: str, decider: Execution) -> None:
        """Cancel everything inside, nested rounds and their joining steps included."""
        victims = [victim for victim in self.active_in_round(round) if victim.id != decider.id]
        for victim in victims:
            self.cancel(victim)
        self.rounds.cancel(round, had_members=bool(victims))

    def _put(self, change: c.Change, execution: Execution) -> Execution:
        self.changes.append(change)
        if not execution.locks and (self._locks or self.run.locks):
            self._release_locks(execution.id)
        self._executions[execution.id] = execution
        return execution

    # --- Locks ---

    def lock_holder(self, lock: str) -> str | None:
        return self._locks[lock] if lock in self._locks else self.run.locks.get(lock)

    def waiting_for_lock(self, lock: str) -> list[Execution]:
        """Longest waiting first."""
        waiters = self._alive(dict(self.run.lock_waiters.get(lock, {})))
        return [execution for execution in waiters if execution.wanted_locks]

    def take_locks(self, execution: Execution, locks: tuple[str, ...]) -> None:
        change = c.LocksTaken(execution.id, locks, self.at)
        self._put(change, with_locks(execution, change))
        self._locks.update(dict.fromkeys(locks, execution.id))

    def await_locks(self, execution: Execution, locks: tuple[str, ...]) -> None:
        change = c.LocksAwaited(execution.id, locks, self._next_order)
        self._next_order += 1
        self._put(change, waiting_for_locks(execution, change))

    def _release_locks(self, execution_id: str) -> None:
        execution = self.execution(execution_id)
        for lock in execution.locks if execution else ():
            self._locks[lock] = None
            self.released_locks[lock] = None

    # --- Messages ---

    def _queue(self, key: QueueKey) -> DraftQueue:
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = DraftQueue(self.run.queues.get(key))
        return queue

    def queue_size(self, key: QueueKey) -> int:
        queue = self._queues.get(key)
        return len(queue) if queue is not None else len(self.run.queues.get(key, ()))

    def unread(self, key: QueueKey) -> list[Json]:
        """Unread values, oldest first."""
        return [message.value for message in self._queue(key)]

    def queue_keys(self, channel: str) -> list[str]:
        """Sorted instances of a channel map that have unread messages (rule 95)."""
        keys = {
            key for name, key in chain(self.run.queues, self._queues) if name == channel and key is not None
        }
        return sorted(key for key in keys if self.queue_size((channel, key)))

    def channel_size(self, channel: str) -> int:
        """Unread messages, over all instances of a map."""
        if self.flow.channels[channel].is_map:
            return sum(self.queue_size((channel, key)) for key in self.queue_keys(channel))
        return self.queue_size((channel, None))

    def publish(self, channel: str, key: str | None, value: Json) -> None:
        """Raises ChannelFull."""
        self.require_room(channel, key, 1)
        declared = self.flow.channels[channel]
        queue = self._queue((channel, key))
        if declared.delivery is Delivery.LATEST and len(queue):
            self._drop(channel, key, queue.take(len(queue)))
        message = QueuedMessage(self._next_seq, value)
        self._next_seq += 1
        queue.append(message)
        self.dirty_queues[(channel, key)] = None
        self.changes.append(c.MessageQueued(channel, key, message))

    def require_room(self, channel: str, key: str | None, count: int) -> None:
        capacity = self.flow.channels[channel].capacity
        if capacity is None:
            return
        size = self.queue_size((channel, key))
        if size + count > capacity:
            raise ChannelFull(
                f"channel {channel} holds {size} of at most {capacity} unread messages; "
                f"{count} more would be too many",
                channel=channel,
                key=key,
            )

    def return_messages(self, execution: Execution) -> None:
        for (channel, key), messages in taken_messages(execution).items():
            queue = self._queue((channel, key))
            queue.give_back(messages)
            self.dirty_queues[(channel, key)] = None
            self.changes.append(c.MessagesReturned(channel, key, tuple(messages)))
            if self.flow.channels[channel].delivery is Delivery.LATEST and len(queue) > 1:
                self._drop(channel, key, queue.take(len(queue) - 1))

    def drop_unread(self, key: QueueKey) -> None:
        queue = self._queue(key)
        if len(queue):
            self._drop(*key, queue.take(len(queue)))

    def _drop(self, channel: str, key: str | None, messages: list[QueuedMessage]) -> None:
        self.changes.append(c.MessagesDropped(channel, key, tuple(m.seq for m in messages)))

    # --- Attributes ---

    def attribute(self, name: str) -> Json:
        """The value of a plain attribute; null when unset."""
        if name in self._attributes:
            return self._attributes[name]
        return self.run.attributes.get(name)

    def map_entries(self, name: str) -> dict[str, Json]:
        """The set entries of an attribute map."""
        touched = self._map_entries.get(name)
        stored = self.run.attribute_maps.get(name, {})
        if touched is None:
            return stored
        merged = {**stored, **touched}
        return {key: value for key, value in merged.items() if value is not None}

    def write(self, name: str, key: str | None, value: Json) -> None:
        """Set, or delete with null (rule 98); a map without key: all its entries."""
        is_map = self.flow.attributes[name].is_map
        if is_map and key is None:
            entries = self.map_entries(name)
            if value is None:
                self._map_entries[name] = dict.fromkeys(entries)
                if entries:
                    self.changes.append(c.AttributeDeleted(name, None))
                return
            for entry, entry_value in value.items():
                self.write(name, entry, entry_value)
            return
        if key is not None:
            self._map_entries.setdefault(name, {})[key] = value
        else:
            self._attributes[name] = value
        self.changes.append(
            c.AttributeDeleted(name, key) if value is None else c.AttributeSet(name, key, value)
        )

    # --- The run ---

    def request_completion(self) -> None:
        if not self.is_completing:
            self.is_completing = True
            self.changes.append(c.CompletionRequested())

    def add_output(self, execution: Execution, output: Json) -> None:
        self.changes.append(c.OutputAdded(Output(execution.step, execution.id, output)))

    def record(self, execution: Execution, record: Record) -> None:
        self.changes.append(c.EventRecorded(execution.id, record))

    def close(self, status: Status, error: RunError | None = None) -> None:
        """Cancel what is active and set the terminal status; the first close wins."""
        if self.status is not Status.RUNNING:
            return
        for execution in self.active():
            self.return_messages(execution)
            if execution.phase is Phase.WAITING:
                self._abandon_children(execution)
        self.status, self.is_open = status, False
        self.changes.append(c.RunClosed(status, self.at, error))
