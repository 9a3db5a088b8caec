"""What happens to a run: the input of `decide`. Every event says when it happened (`at`, aware UTC).

What one call of a handler did travels in one event: the all-or-nothing guarantee in one value (rule 48).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from orchestrator.definition.model import Json


class Write(Struct, frozen=True, gc=False, array_like=True):
    """A handler wrote an attribute (or one entry of a map); a null value deletes."""

    attribute: str
    value: Json
    key: str | None = None


class Message(Struct, frozen=True, gc=False, array_like=True):
    """A message on its way to a channel (or one instance of a channel map)."""

    channel: str
    value: Json
    key: str | None = None


class Record(Struct, frozen=True, gc=False, array_like=True):
    """`ctx.record_event`: part of history only (rule 55)."""

    name: str
    value: Json


class HandlerEffects(Struct, frozen=True, gc=False):
    """What a handler did through its context, in order."""

    writes: tuple[Write, ...] = ()
    publishes: tuple[Message, ...] = ()
    cancels: tuple[str, ...] = ()
    """Step names."""
    locals: dict[str, Json] = {}
    """`wait_for` handlers only."""
    records: tuple[Record, ...] = ()


NO_EFFECTS = HandlerEffects()


class HandlerWait(Struct, frozen=True, gc=False):
    """The wait that a `wait_for` handler returned, out of declared condition ids."""

    combinator: str
    """"until", "any_of", "all_of", "any_combination_of", or "none" for `skip()`."""
    groups: tuple[tuple[str, ...], ...] = ()
    """One group for all_of/until, one id per group for any_of."""


class Failure(Struct, frozen=True, gc=False):
    """Why an attempt failed."""

    type: str
    """Name of the exception's class, or one of ours: Timeout, InvalidResult, UndeclaredEffect, …"""
    message: str
    bases: tuple[str, ...] = ()
    """Names of the classes that the exception is one of, its own first; for `non_retryable`."""
    retry_after: timedelta | None = None
    is_retryable: bool = True
    has_started: bool = True
    """False: the handler certainly did not run in this attempt (rule 155)."""
    traceback: str | None = None


class Watcher(Struct, frozen=True, gc=False, array_like=True):
    """A wait of another run that wants to learn of this run's end."""

    flow_id: str
    run_id: str
    execution_id: str
    condition: int


class RunStarted(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    at: datetime
    flow_id: str
    run_id: str
    input: Json = None
    has_input: bool = False
    attributes: dict[str, Json] = {}
    delay: timedelta | None = None
    request_id: str | None = None
    timeout: timedelta | None = None
    timeout_policy: str | None = None
    """"fail", "cancel" or "handler"."""
    config: dict[str, Json] = {}
    watcher: Watcher | None = None
    """The wait of a parent that asks for this run."""


class WaitForSucceeded(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A wait was evaluated. `wait` is None when the definition alone says what to wait for."""

    at: datetime
    execution_id: str
    attempt: int
    wait: HandlerWait | None = None
    effects: HandlerEffects = NO_EFFECTS


class WaitForFailed(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    at: datetime
    execution_id: str
    attempt: int
    failure: Failure
    started_at: datetime | None = None
    """When this attempt was handed to the handler (rule 147); None: at `at`."""


class LocksRequested(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """An attempt of a method with `locks` is about to be handed out."""

    at: datetime
    execution_id: str
    attempt: int


class ExecuteSucceeded(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """Execute returned; for a step without `execute`: its decision is due (`result` null)."""

    at: datetime
    execution_id: str
    attempt: int
    result: Json = None
    choice: str | None = None
    effects: HandlerEffects = NO_EFFECTS


class ExecuteFailed(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    at: datetime
    execution_id: str
    attempt: int
    failure: Failure
    started_at: datetime | None = None
    """When this attempt was handed to the handler (rule 147); None: at `at`."""


class TimerDue(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """The timers of this execution whose time has come by `at` fire."""

    at: datetime
    execution_id: str


class MessagesPublished(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client published directly; allowed to `external` channels only."""

    at: datetime
    messages: tuple[Message, ...]


class AttributesWritten(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client wrote attributes directly. A map without key takes a mapping of entries."""

    at: datetime
    writes: tuple[Write, ...]


class ConfigUpdated(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client changes some keys of the run's configuration (rule 23)."""

    at: datetime
    config: dict[str, Json]


class StopRequested(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    at: datetime
    stop: str = "cancel"
    """"cancel", "fail" or "terminate" (rules 187-189)."""
    reason: str | None = None


class RpcCalled(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """An RPC's handler (if any) has returned; its decision is due."""

    at: datetime
    name: str
    input: Json = None
    has_input: bool = False
    result: Json = None
    choice: str | None = None
    effects: HandlerEffects = NO_EFFECTS
    request_id: str | None = None


class WatcherAttached(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A wait of another run attaches to this one."""

    at: datetime
    watcher: Watcher


class SubflowClosed(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A child that a wait of this run asked for is closed."""

    at: datetime
    execution_id: str
    condition: int
    flow_id: str
    status: str
    outputs: tuple[Json, ...] = ()
    error: dict[str, Json] | None = None


class SubflowRefused(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A child cannot be started: unknown flow type, another type under its id, a bad input."""

    at: datetime
    execution_id: str
    condition: int
    flow_id: str
    message: str


class Heartbeaten(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A handler reported progress (rule 162)."""

    at: datetime
    execution_id: str
    attempt: int
    value: Json = None


class TimerSkipped(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client skips a timer: by condition id, by position among the timers from 0, or the only one."""

    at: datetime
    execution_id: str
    condition: str | int | None = None


class DeadlineSkipped(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client lets the run's deadline come now."""

    at: datetime


class RetryHastened(Struct, frozen=True, gc=False, kw_only=True, tag=True):
    """A client wants the next attempt now."""

    at: datetime
    execution_id: str


Event: TypeAlias = (
    RunStarted
    | WaitForSucceeded
    | WaitForFailed
    | LocksRequested
    | ExecuteSucceeded
    | ExecuteFailed
    | TimerDue
    | MessagesPublished
    | AttributesWritten
    | ConfigUpdated
    | StopRequested
    | RpcCalled
    | WatcherAttached
    | SubflowClosed
    | SubflowRefused
    | Heartbeaten
    | TimerSkipped
    | DeadlineSkipped
    | RetryHastened
)
