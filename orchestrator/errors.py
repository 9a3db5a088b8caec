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
    type = "usage"
    exit_code = 2


class Refused(OrchestratorError):
    type = "rejected"
    exit_code = 1


class Rejected(Refused):
    type = "rejected"


class HandlerFailed(Refused):
    type = "handler_failed"


class InvalidValue(Refused):
    type = "invalid_value"


class NotExternal(Refused):
    type = "not_external"


class ChannelFull(Refused):
    type = "channel_full"


class LockConflict(Refused):
    type = "lock_conflict"


class WaitTimeout(OrchestratorError):
    type = "wait_timeout"
    exit_code = 3


class Blocked(OrchestratorError):
    type = "blocked"
    exit_code = 3


class NotFound(OrchestratorError):
    type = "not_found"
    exit_code = 4


class NotActive(OrchestratorError):
    type = "not_active"
    exit_code = 4


class AlreadyStarted(OrchestratorError):
    type = "already_started"
    exit_code = 5


class BodyUnreadable(OrchestratorError):
    """Concerns one run; others are not affected."""

    type = "body_unreadable"
    exit_code = 70


class StoreError(OrchestratorError):
    type = "store"
    exit_code = 70


class StoreConflict(StoreError):
    pass


class TransactionLost(StoreError):
    pass


class RetryAfter(Exception):
    """Raised by a handler: this attempt failed, try again after `delay` (rule 148)."""

    def __init__(self, delay: timedelta | float, message: str = "retry later") -> None:
        super().__init__(message)
        self.delay = delay if isinstance(delay, timedelta) else timedelta(seconds=delay)


class NonRetryable(Exception):
    """Raised by a handler: this attempt failed and no other will help (rule 149)."""
