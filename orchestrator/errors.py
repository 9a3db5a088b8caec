"""Errors that callers can meet.

    OrchestratorError                 exit code 70
    ├── DefinitionInvalid             1   problems of a definition, each with file, line, column
    ├── UsageError                    2
    ├── Refused                       1   the request was understood and refused; nothing was committed
    │   ├── Rejected                      an RPC or a rule said no
    │   ├── HandlerFailed                 a handler raised
    │   ├── InvalidValue                  a value does not fit its declared type
    │   ├── NotExternal                   a client published to a channel without `external: true`
    │   ├── ChannelFull                   `capacity` would be exceeded
    │   └── LockConflict                  an attribute lock is held
    ├── WaitTimeout                   3   the time given to a wait is over
    ├── Blocked                       3   nothing here can move the run
    ├── NotFound                      4   no such run, step execution or name
    ├── NotActive                     4   the run is closed
    ├── AlreadyStarted                5   the flow id has a run and the reuse policy refuses another
    ├── BodyUnreadable                70  a value of a run cannot be decoded, or its object is missing
    └── StoreError                    70  the database refuses or is not ours
        ├── StoreConflict                 others changed the same runs at the same time; tried again
        └── TransactionLost               a handler's own statements ended the commit that it was part of

Raised by handlers to steer their step: RetryAfter, NonRetryable.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar


class OrchestratorError(Exception):
    """Base of everything this package raises on purpose; `data` is JSON for machines."""

    type: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = data


class DefinitionInvalid(OrchestratorError):
    """A definition has problems; `problems` lists all of them in file order."""

    type = "definition"
    exit_code = 1

    def __init__(self, message: str, problems: tuple[Any, ...] = (), **data: Any) -> None:
        super().__init__(message, **data)
        self.problems = problems


class UsageError(OrchestratorError):
    """What was asked for cannot be meant: an option or an argument of another type, an unknown word."""

    type = "usage"
    exit_code = 2


class Refused(OrchestratorError):
    """The request was understood and refused; nothing was committed."""

    type = "rejected"
    exit_code = 1


class Rejected(Refused):
    """An RPC's definition or handler, or a rule, said no."""

    type = "rejected"


class HandlerFailed(Refused):
    """The handler of an RPC raised."""

    type = "handler_failed"


class InvalidValue(Refused):
    """A value does not fit its declared type, or its place."""

    type = "invalid_value"


class NotExternal(Refused):
    """The channel has no `external: true`: clients cannot publish to it."""

    type = "not_external"


class ChannelFull(Refused):
    """The channel's `capacity` would be exceeded."""

    type = "channel_full"


class LockConflict(Refused):
    """A step holds an attribute lock that the RPC needs; try again."""

    type = "lock_conflict"


class WaitTimeout(OrchestratorError):
    """The time given to a wait is over; the run goes on."""

    type = "wait_timeout"
    exit_code = 3


class Blocked(OrchestratorError):
    """No worker can move the run any more: it needs a client, or nobody can."""

    type = "blocked"
    exit_code = 3


class NotFound(OrchestratorError):
    """There is no such run, step execution or name."""

    type = "not_found"
    exit_code = 4


class NotActive(OrchestratorError):
    """The run is closed."""

    type = "not_active"
    exit_code = 4


class AlreadyStarted(OrchestratorError):
    """The flow id has a run, and the reuse policy does not allow another."""

    type = "already_started"
    exit_code = 5


class BodyUnreadable(OrchestratorError):
    """A value of a run cannot be decoded, or its object is missing. Other runs are not affected."""

    type = "body_unreadable"
    exit_code = 70


class StoreError(OrchestratorError):
    """The database refuses, cannot be reached, or is not ours."""

    type = "store"
    exit_code = 70


class StoreConflict(StoreError):
    """Others changed the same runs at the same time; it is tried again."""


class TransactionLost(StoreError):
    """A handler's own statements ended the commit that it was part of."""


class RetryAfter(Exception):
    """Raised by a handler: this attempt failed, try again after `delay` (rule 148)."""

    def __init__(self, delay: timedelta | float, message: str = "retry later") -> None:
        super().__init__(message)
        self.delay = delay if isinstance(delay, timedelta) else _seconds(delay)


def _seconds(delay: float) -> timedelta:
    try:
        if not isinstance(delay, bool):
            return timedelta(seconds=delay)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"RetryAfter takes a timedelta or a number of seconds, not {delay!r}"[:200]) from None


class NonRetryable(Exception):
    """Raised by a handler: this attempt failed and no other will help (rule 149)."""
