"""What a transition changes: the output of `decide`, applied by `evolve`, stored in history.

Changes are facts without rules: `evolve` never decides. They encode as compact arrays (codec.py), which
begin with the tag: what is stored has it, so that a number once given is never given again.
"""

from __future__ import annotations

import re
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


class _Change(Struct, frozen=True, gc=False, array_like=True, tag_field="change"):
    pass


class RunOpened(_Change, frozen=True, tag=1):
    flow_id: str
    run_id: str
    at: datetime
    input: Json = None
    request_id: str | None = None


class StepQueued(_Change, frozen=True, tag=2):
    """A new execution; its `number` is the next of its step (rule 6)."""

    execution: Execution


class WaitAccepted(_Change, frozen=True, tag=3):
    execution_id: str
    order: int
    """Position among all accepted waits of the run: the oldest is served first."""
    combinator: str
    conditions: tuple[PendingCondition, ...]
    groups: tuple[tuple[int, ...], ...]
    """Candidates: indexes into `conditions`."""
    due_at: datetime | None
    locals: dict[str, Json] = {}


class TimersFired(_Change, frozen=True, tag=4):
    """Timers of a wait that goes on have fired."""

    execution_id: str
    conditions: tuple[int, ...]
    due_at: datetime | None


class WaitSatisfied(_Change, frozen=True, tag=5):
    """The wait is over: Execute is next, due now. Messages move from their queues into the execution."""

    execution_id: str
    due_at: datetime
    winners: tuple[int, ...] = ()
    """Indexes into the accepted conditions."""
    fired: tuple[int, ...] = ()
    taken: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(condition index, message seqs oldest first)."""


class WaitSkipped(_Change, frozen=True, tag=6):
    """WaitFor failed for good and the step proceeds (rule 89)."""

    execution_id: str
    due_at: datetime
    failure: Failure
    attempts: int


class ChildRequested(_Change, frozen=True, tag=7):
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


class ChildReported(_Change, frozen=True, tag=8):
    """The child is closed."""

    execution_id: str
    condition: int
    status: str
    outputs: tuple[Json, ...] = ()
    error: dict[str, Json] | None = None


class ChildAbandoned(_Change, frozen=True, tag=9):
    """The wait is over without the child, which is to be stopped: "cancel" or "terminate"."""

    flow_id: str
    stop: str


class WatcherAdded(_Change, frozen=True, tag=10):
    watcher: Watcher


class HeartbeatKept(_Change, frozen=True, tag=11):
    execution_id: str
    heartbeat: Heartbeat


class LocksTaken(_Change, frozen=True, tag=12):
    execution_id: str
    locks: tuple[str, ...]
    due_at: datetime


class LocksAwaited(_Change, frozen=True, tag=13):
    execution_id: str
    locks: tuple[str, ...]
    order: int


class AttemptFailed(_Change, frozen=True, tag=14):
    """A retry is scheduled for `due_at`."""

    execution_id: str
    due_at: datetime
    failure: Failure
    first_attempt_at: datetime


class SkipRemembered(_Change, frozen=True, tag=15):
    execution_id: str
    condition: str | int | None


class RetryDue(_Change, frozen=True, tag=16):
    """The retry of an execution that backs off is due earlier."""

    execution_id: str
    due_at: datetime


class TimeoutHandlerBegun(_Change, frozen=True, tag=17):
    """The deadline has come, its policy is `handler`."""

    execution_id: str
    due_at: datetime


class StepEnded(_Change, frozen=True, tag=18):
    execution_id: str
    end: int
    """Position in ENDS: every step has one, and a number is stored in a byte."""
    failure: Failure | None = None
    decision: int | None = None
    """Position in `decide`, from 1."""
    otherwise_count: int = 0
    """How many `otherwise` were followed from there."""

    @property
    def how(self) -> str:
        return ENDS[self.end]


ENDS = ("completed", "failed", "cancelled")
COMPLETED, FAILED, CANCELLED = range(3)


class MessageQueued(_Change, frozen=True, tag=19):
    channel: str
    key: str | None
    message: QueuedMessage


class MessagesReturned(_Change, frozen=True, tag=20):
    """Messages of a cancelled execution go back to their places at the front (rule 109)."""

    channel: str
    key: str | None
    messages: tuple[QueuedMessage, ...]


class MessagesDropped(_Change, frozen=True, tag=21):
    """Unread messages that `delivery` transient or latest discards."""

    channel: str
    key: str | None
    seqs: tuple[int, ...]


class AttributeSet(_Change, frozen=True, tag=22):
    name: str
    key: str | None
    value: Json


class AttributeDeleted(_Change, frozen=True, tag=23):
    """Without key: the attribute, or every entry of the map."""

    name: str
    key: str | None


class ConfigSet(_Change, frozen=True, tag=24):
    """What the run overrides of its flow's configuration, all of it."""

    config: dict[str, Json]


class RoundOpened(_Change, frozen=True, tag=25):
    round: str
    join: str
    branch_count: int


class Reported(_Change, frozen=True, tag=26):
    execution_id: str
    round: str
    report: BranchReport


class RoundCounted(_Change, frozen=True, tag=27):
    """The counters of a round after this commit."""

    round: str
    counting: int
    missed: int
    members: int
    is_cancelled: bool = False


class RoundForgotten(_Change, frozen=True, tag=28):
    """Nothing is inside it or faces it any more."""

    round: str


class CompletionRequested(_Change, frozen=True, tag=29):
    """Graceful completion was asked for; never withdrawn (rule 122)."""


class OutputAdded(_Change, frozen=True, tag=30):
    output: Output


class EventRecorded(_Change, frozen=True, tag=31):
    execution_id: str
    record: Record


class RpcAnswered(_Change, frozen=True, tag=32):
    """The last change of an RPC's commit: what its caller gets."""

    name: str
    output: Json
    request_id: str | None = None
    decision: int | None = None
    """Position in `decide`, from 1; None: it has none."""


class RunRestored(_Change, frozen=True, tag=33):
    """Time travel: the run goes on from what it was after commit `forked_at`, as its next attempt."""

    forked_at: int
    left_at: int
    """The last commit of the attempt that is left."""
    image: RunImage
    has_reapplied: bool = True
    """What clients did after `forked_at` was done again; False: it is left out for good."""


class DefinitionChanged(_Change, frozen=True, tag=34):
    """The run goes on under another definition (migration/). Hashes."""

    old: str
    new: str
    image: RunImage | None = None
    """What the run is under the new names; None: the same."""
    moved: dict[str, str] = {}
    """New execution ids by old, of executions that are not the same; ids need not differ."""


class RunClosed(_Change, frozen=True, tag=35):
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

WORDS: dict[type[Struct], str] = {
    kind: re.sub(r"(?<=.)(?=[A-Z])", "_", kind.__name__).lower() for kind in Change.__args__
}
"""What they are called outside: `step_ended`."""
