"""A run as it stands between two commits.

`Execution` and what it holds are immutable values; `Run` is the mutable whole that `evolve` changes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct, field

from orchestrator.core.events import Failure, Watcher
from orchestrator.core.groups import Groups
from orchestrator.definition.model import Json

TIMEOUT_STEP = "sys:timeout_handler"
"""The pseudo-step that waits for the run's deadline and then runs `on_timeout` (rule 184)."""
TIMEOUT_ID = f"{TIMEOUT_STEP}-1"


class Status(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"
    TERMINATED = "TERMINATED"


class Phase(StrEnum):
    """Where an execution is between its two methods."""

    WAIT_FOR = "wait_for"
    """WaitFor is to be evaluated when `due_at` comes."""
    WAITING = "waiting"
    """The wait is accepted; `due_at` is its next timer, if any."""
    EXECUTE = "execute"
    """Execute (or, without one, the decision) is to be done when `due_at` comes."""


class QueuedMessage(Struct, frozen=True, gc=False, array_like=True):
    seq: int
    """Run-wide publish order."""
    value: Json


class BranchRef(Struct, frozen=True, gc=False, array_like=True):
    """One branch of a round, numbered from 0."""

    round: str
    """`<join>/<id of the execution that opened it>`."""
    branch: int


class BranchReport(Struct, frozen=True, gc=False, array_like=True):
    branch: int
    value: Json


class Round(Struct):
    """A round of a join (language.md 5.1). The counters are caches of what lines and definition say."""

    join: str
    branch_count: int
    counting: int = 0
    """Active executions that can still report to it."""
    missed: int = 0
    """Executions that counted and went without a report, or were cancelled."""
    members: int = 0
    """Active executions inside it or facing it; a round without any is forgotten."""
    is_cancelled: bool = False
    """Nothing counts in it any more."""
    reports: list[BranchReport] = field(default_factory=list)
    """In order of arrival."""


class Child(Struct, frozen=True, gc=False, array_like=True):
    """The run that a subflow condition waits for."""

    flow_id: str
    if_abandoned: str = "continue"
    """"continue", "cancel" or "terminate"."""
    status: str = "RUNNING"
    outputs: tuple[Json, ...] = ()
    error: dict[str, Json] | None = None


class PendingCondition(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """One condition of an accepted wait, its expressions evaluated."""

    id: str
    kind: str
    """"channel", "timer", "join" or "subflow"."""
    channel: str | None = None
    key: str | None = None
    minimum: int = 0
    maximum: int | None = None
    """None: takes all."""
    fires_at: datetime | None = None
    has_fired: bool = False
    is_left_out: bool = False
    """`when` was false: it has a result, but is part of no candidate."""
    item: Json = None
    """The element of `for_each`."""
    is_element: bool = False
    round: str | None = None
    need: str | int | None = None
    """"all", "active", or a number of reports."""
    child: Child | None = None


class ConditionResult(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What Execute learns of a condition (rules 79-81)."""

    is_satisfied: bool = False
    has_fired: bool = False
    messages: tuple[QueuedMessage, ...] = ()
    reports: tuple[BranchReport, ...] = ()
    branch_count: int = 0


class Wait(Struct, frozen=True, gc=False, array_like=True):
    """An accepted wait, and its results once it is over."""

    order: int
    combinator: str
    conditions: tuple[PendingCondition, ...]
    groups: tuple[tuple[int, ...], ...]
    results: tuple[ConditionResult, ...] | None = None


class RecoveredFailure(Struct, frozen=True, gc=False):
    """`failure` in expressions and `ctx.failure`."""

    type: str
    message: str
    attempts: int
    step_execution_id: str
    progress: str
    """"NOT_STARTED" or "NOT_COMPLETED" (rule 155)."""


class Heartbeat(Struct, frozen=True, gc=False, array_like=True):
    value: Json
    at: datetime


_SHORT = {
    "step": "s",
    "number": "n",
    "origin": "o",
    "phase": "p",
    "due_at": "d",
    "input": "i",
    "attempt": "a",
}
"""Stored once or twice for every step."""


class _ExecutionId:
    """Made when it is first asked for; `functools.cached_property` would take a lock each time."""

    def __get__(self, execution: Execution, owner: object = None) -> str:
        made = f"{execution.step}-{execution.number}"
        execution.__dict__["id"] = made
        return made


class Execution(Struct, frozen=True, kw_only=True, omit_defaults=True, rename=_SHORT, dict=True):
    """One execution of a step (`Charge-2`)."""

    step: str
    number: int
    origin: str
    """`__start__`, `__rpc/<name>`, or the id of the execution it comes from (rule 12)."""
    phase: Phase = Phase.EXECUTE
    due_at: datetime | None = None
    """When the engine has something to do for it; None: never, unless a message comes."""
    input: Json = None
    attempt: int = 1
    first_attempt_at: datetime | None = None
    """When the first attempt of the current method was handed out; known from its failure on (rule 147)."""
    last_failure: Failure | None = None
    has_started: bool = False
    """An attempt of the current method may have run."""
    wait: Wait | None = None
    locals: dict[str, Json] = {}
    has_wait_for_failed: bool = False
    failure: RecoveredFailure | None = None
    line: tuple[BranchRef, ...] = ()
    """The branches it is inside, outermost first."""
    faces: dict[str, str] = {}
    """Round faced, by join."""
    locks: tuple[str, ...] = ()
    """Attribute locks held for the current attempt."""
    wanted_locks: tuple[str, ...] = ()
    """Waits for these locks; then it is not due."""
    lock_order: int = 0
    heartbeat: Heartbeat | None = None
    """The last one of the current method; also of earlier attempts."""
    options_path: tuple[str | int, ...] | None = None
    """Where in the definition the movement or route stands whose `options` this execution runs under."""

    id = _ExecutionId()


class Output(Struct, frozen=True, gc=False):
    step: str
    step_execution_id: str
    output: Json


class RunError(Struct, frozen=True, gc=False, omit_defaults=True):
    """`type`: force_fail, step_failed, timeout, stopped, definition or internal."""

    type: str
    message: str
    step_execution_id: str | None = None
    failure: dict[str, Json] | None = None


QueueKey: TypeAlias = tuple[str, str | None]
"""Channel name and, for a channel map, the instance."""


class Run(Struct):
    """One run. Built by `evolve` from its first change on, or loaded from rows."""

    flow_id: str = ""
    run_id: str = ""
    status: Status = Status.RUNNING
    version: int = 0
    """Number of commits."""
    attempt: int = 1
    """Run attempt (time travel)."""
    input: Json = None
    request_id: str | None = None
    started_at: datetime | None = None
    closed_at: datetime | None = None
    error: RunError | None = None
    is_completing: bool = False
    """A graceful completion was asked for."""
    next_seq: int = 1
    next_order: int = 1
    counters: dict[str, int] = field(default_factory=dict)
    """Executions queued so far, by step."""
    executions: dict[str, Execution] = field(default_factory=dict)
    attributes: dict[str, Json] = field(default_factory=dict)
    attribute_maps: dict[str, dict[str, Json]] = field(default_factory=dict)
    queues: dict[QueueKey, deque[QueuedMessage]] = field(default_factory=dict)
    """Unread messages, ordered by seq."""
    outputs: list[Output] = field(default_factory=list)
    dropped_count: dict[str, int] = field(default_factory=dict)
    """Messages that `delivery` discarded, by channel."""
    rounds: dict[str, Round] = field(default_factory=dict)
    answers: dict[str, Json] = field(default_factory=dict)
    """Outputs of RPCs that were called with a request id (rule 170)."""
    watchers: list[Watcher] = field(default_factory=list)
    """Waits of parents for this run."""
    config: dict[str, Json] = field(default_factory=dict)
    """What overrides the flow's own (configuring.py)."""
    skips: dict[str, tuple[str | int | None, ...]] = field(default_factory=dict)
    """Timer skips that came before their timers, by execution id (rule 88)."""

    # Indexes, derived from the above; never stored.
    waiters: dict[QueueKey, OrderedDict[str, None]] = field(default_factory=dict)
    """Waiting executions by channel (or by round, as `(round, None)`), oldest accepted wait first."""
    locks: dict[str, str] = field(default_factory=dict)
    """Execution that holds each lock."""
    lock_waiters: dict[str, OrderedDict[str, None]] = field(default_factory=dict)
    """Executions that want each lock, longest waiting first."""
    groups: Groups | None = None
    """None: not asked for yet (`groups_of`)."""
