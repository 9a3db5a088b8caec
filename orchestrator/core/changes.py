"""What a transition changes: the output of `decide`, applied by `evolve`, stored in history.

Changes are facts without rules: `evolve` never decides. They encode as compact arrays (codec.py).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from orchestrator.core.events import Failure, Record, Watcher
from orchestrator.core.image import RunImage
from orchestrator.core.state import (
    BranchReport,
    Execution,
    Heartbeat,
    Output,
    PendingCondition,
    QueuedMessage,
    RunError,
)
from orchestrator.definition.model import Json


class _Change(Struct, frozen=True, array_like=True, tag_field="change"):
    pass


class RunOpened(_Change, frozen=True, tag="run_opened"):
    flow_id: str
    run_id: str
    at: datetime
    input: Json = None
    request_id: str | None = None


class StepQueued(_Change, frozen=True, tag="step_queued"):
    """A new execution; its `number` is the next of its step (rule 6)."""

    execution: Execution


class WaitAccepted(_Change, frozen=True, tag="wait_accepted"):
    execution_id: str
    order: int
    """Position among all accepted waits of the run: the oldest is served first."""
    combinator: str
    conditions: tuple[PendingCondition, ...]
    groups: tuple[tuple[int, ...], ...]
    """Candidates: indexes into `conditions`."""
    due_at: datetime | None
    locals: dict[str, Json] = {}


class TimersFired(_Change, frozen=True, tag="timers_fired"):
    """Timers of a wait that goes on have fired."""

    execution_id: str
    conditions: tuple[int, ...]
    due_at: datetime | None


class WaitSatisfied(_Change, frozen=True, tag="wait_satisfied"):
    """The wait is over: Execute is next, due now. Messages move from their queues into the execution."""

    execution_id: str
    due_at: datetime
    winners: tuple[int, ...] = ()
    """Indexes into the accepted conditions."""
    fired: tuple[int, ...] = ()
    taken: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(condition index, message seqs oldest first)."""


class WaitSkipped(_Change, frozen=True, tag="wait_skipped"):
    """WaitFor failed for good and the step proceeds (rule 89)."""

    execution_id: str
    due_at: datetime
    failure: Failure
    attempts: int


class ChildRequested(_Change, frozen=True, tag="child_requested"):
    """A subflow condition of an accepted wait asks for a run."""

    execution_id: str
    condition: int
    flow: str
    flow_id: str
    request_id: str
    reuse: str
    input: Json = None
    has_input: bool = False
    timeout: timedelta | None = None
    config: dict[str, Json] = {}
    """The parent's, as the condition overrides it (rule 180)."""


class ChildReported(_Change, frozen=True, tag="child_reported"):
    """The child is closed."""

    execution_id: str
    condition: int
    status: str
    outputs: tuple[Json, ...] = ()
    error: dict[str, Json] | None = None


class ChildAbandoned(_Change, frozen=True, tag="child_abandoned"):
    """The wait is over without the child, which is to be stopped: "cancel" or "terminate"."""

    flow_id: str
    stop: str


class WatcherAdded(_Change, frozen=True, tag="watcher_added"):
    watcher: Watcher


class HeartbeatKept(_Change, frozen=True, tag="heartbeat_kept"):
    execution_id: str
    heartbeat: Heartbeat


class LocksTaken(_Change, frozen=True, tag="locks_taken"):
    execution_id: str
    locks: tuple[str, ...]
    due_at: datetime


class LocksAwaited(_Change, frozen=True, tag="locks_awaited"):
    execution_id: str
    locks: tuple[str, ...]
    order: int


class AttemptFailed(_Change, frozen=True, tag="attempt_failed"):
    """A retry is scheduled for `due_at`."""

    execution_id: str
    due_at: datetime
    failure: Failure
    first_attempt_at: datetime


class SkipRemembered(_Change, frozen=True, tag="skip_remembered"):
    execution_id: str
    condition: str | int | None


class RetryDue(_Change, frozen=True, tag="retry_due"):
    """The retry of an execution that backs off is due earlier."""

    execution_id: str
    due_at: datetime


class TimeoutHandlerBegun(_Change, frozen=True, tag="timeout_handler_begun"):
    """The deadline has come, its policy is `handler`."""

    execution_id: str
    due_at: datetime


class StepEnded(_Change, frozen=True, tag="step_ended"):
    execution_id: str
    how: str
    """"completed", "failed" or "cancelled"."""
    failure: Failure | None = None
    decision: int | None = None
    """Position in `decide`, from 1."""
    otherwise_count: int = 0
    """How many `otherwise` were followed from there."""


class MessageQueued(_Change, frozen=True, tag="message_queued"):
    channel: str
    key: str | None
    message: QueuedMessage


class MessagesReturned(_Change, frozen=True, tag="messages_returned"):
    """Messages of a cancelled execution go back to their places at the front (rule 109)."""

    channel: str
    key: str | None
    messages: tuple[QueuedMessage, ...]


class MessagesDropped(_Change, frozen=True, tag="messages_dropped"):
    """Unread messages that `delivery` transient or latest discards."""

    channel: str
    key: str | None
    seqs: tuple[int, ...]


class AttributeSet(_Change, frozen=True, tag="attribute_set"):
    name: str
    key: str | None
    value: Json


class AttributeDeleted(_Change, frozen=True, tag="attribute_deleted"):
    """Without key: the attribute, or every entry of the map."""

    name: str
    key: str | None


class ConfigSet(_Change, frozen=True, tag="config_set"):
    """What the run overrides of its flow's configuration, all of it."""

    config: dict[str, Json]


class RoundOpened(_Change, frozen=True, tag="round_opened"):
    round: str
    join: str
    branch_count: int


class Reported(_Change, frozen=True, tag="reported"):
    execution_id: str
    round: str
    report: BranchReport


class RoundCounted(_Change, frozen=True, tag="round_counted"):
    """The counters of a round after this commit."""

    round: str
    counting: int
    missed: int
    members: int
    is_cancelled: bool = False


class RoundForgotten(_Change, frozen=True, tag="round_forgotten"):
    """Nothing is inside it or faces it any more."""

    round: str


class CompletionRequested(_Change, frozen=True, tag="completion_requested"):
    """Graceful completion was asked for; never withdrawn (rule 122)."""


class OutputAdded(_Change, frozen=True, tag="output_added"):
    output: Output


class EventRecorded(_Change, frozen=True, tag="event_recorded"):
    execution_id: str
    record: Record


class RpcAnswered(_Change, frozen=True, tag="rpc_answered"):
    """The last change of an RPC's commit: what its caller gets."""

    name: str
    output: Json
    request_id: str | None = None
    decision: int | None = None
    """Position in `decide`, from 1; None: it has none."""


class RunRestored(_Change, frozen=True, tag="run_restored"):
    """Time travel: the run goes on from what it was after commit `forked_at`, as its next attempt."""

    forked_at: int
    left_at: int
    """The last commit of the attempt that is left."""
    image: RunImage


class DefinitionChanged(_Change, frozen=True, tag="definition_changed"):
    """The run goes on under another definition (migration/). Hashes."""

    old: str
    new: str
    image: RunImage | None = None
    """What the run is under the new names; None: the same."""
    moved: dict[str, str] = {}
    """New execution ids by old, of executions that are not the same; ids need not differ."""


class RunClosed(_Change, frozen=True, tag="run_closed"):
    """Terminal. Whatever is still active is cancelled; a run not COMPLETED keeps no outputs (rule 127)."""

    status: str
    at: datetime
    error: RunError | None = None


Change: TypeAlias = (
    RunOpened
    | StepQueued
    | WaitAccepted
    | TimersFired
    | WaitSatisfied
    | WaitSkipped
    | ChildRequested
    | ChildReported
    | ChildAbandoned
    | WatcherAdded
    | HeartbeatKept
    | LocksTaken
    | LocksAwaited
    | AttemptFailed
    | SkipRemembered
    | RetryDue
    | TimeoutHandlerBegun
    | StepEnded
    | MessageQueued
    | MessagesReturned
    | MessagesDropped
    | AttributeSet
    | AttributeDeleted
    | ConfigSet
    | RoundOpened
    | Reported
    | RoundCounted
    | RoundForgotten
    | CompletionRequested
    | OutputAdded
    | EventRecorded
    | RpcAnswered
    | RunRestored
    | DefinitionChanged
    | RunClosed
)
