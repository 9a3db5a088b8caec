"""What waits in the inbox for the next commit, and how those who submitted it learn what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from orchestrator.core.events import Event
from orchestrator.core.reuse import ReusePolicy
from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.task import Task


class Receipt:
    """Filled in when the commit is durable, or refused."""

    __slots__ = ("_done", "_error", "_value")

    def __init__(self) -> None:
        self._done = threading.Lock()
        self._done.acquire()
        self._value: Any = None
        self._error: BaseException | None = None

    def fulfil(self, value: Any) -> None:
        self._value = value
        self._done.release()

    def refuse(self, error: BaseException) -> None:
        self._error = error
        self._done.release()

    def result(self) -> Any:
        """Blocks; raises what the commit refused with."""
        with self._done:
            if self._error is not None:
                raise self._error
            return self._value


@dataclass(slots=True)
class Start:
    """A client starts a run; its receipt is a Started."""

    flow: Flow
    flow_id: str
    run_id: str
    input: Json = None
    has_input: bool = False
    reuse_policy: ReusePolicy = ReusePolicy.DISALLOW
    request_id: str | None = None
    return_existing: bool = False
    delay: timedelta | None = None
    timeout: timedelta | None = None
    timeout_policy: str | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)
    children: tuple[Flow, ...] = ()
    """Definitions that its subflows may be started from."""
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(frozen=True, slots=True)
class Started:
    flow_id: str
    run_id: str
    run: int
    is_new: bool


@dataclass(slots=True)
class Request:
    """A client wants something of the latest run of a flow id."""

    flow_id: str
    event: Callable[[datetime], Event]
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class Travel:
    """A client sends the latest run of a flow id back in time."""

    flow_id: str
    target: Target
    reapplies: bool
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class Report:
    """A handler has ended, one way or the other."""

    task: Task
    event: Callable[[datetime], Event]
    failed_count: int = 0
    """How often the database refused the commit that it was in."""


Submission: TypeAlias = Start | Request | Travel | Report
