"""What waits in the inbox for the next commit, and how those who submitted it learn what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from orchestrator.binding.context import NO_SERVICES, Services
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.events import Event, RunStarted
from orchestrator.core.reuse import ReusePolicy
from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.task import Task

if TYPE_CHECKING:
    from orchestrator.core.migration.comparison import Comparison


class Receipt:
    """Filled in when the commit is durable, or refused."""

    __slots__ = ("_done", "_error", "_value", "is_awaited", "on_awake")

    def __init__(self) -> None:
        self._done = threading.Lock()
        self._done.acquire()
        self._value: Any = None
        self._error: BaseException | None = None
        self.is_awaited = False
        """Somebody asks for the result at once."""
        self.on_awake: Callable[[], None] | None = None
        """Called when they have it; see gathering.py."""

    def fulfil(self, value: Any) -> None:
        self._value = value
        self._done.release()

    def refuse(self, error: BaseException) -> None:
        self._error = error
        self._done.release()

    def result(self) -> Any:
        """Blocks; raises what the commit refused with."""
        with self._done:
            self.note_awake()
            if self._error is not None:
                raise self._error
            return self._value

    @property
    def is_answered(self) -> bool:
        return not self._done.locked()

    def note_awake(self) -> None:
        """Its owner has been answered, if it was, and runs."""
        on_awake, self.on_awake = self.on_awake, None
        if on_awake is not None:
            on_awake()


@dataclass(slots=True)
class Start:
    """A client starts a run; its receipt is a Started."""

    is_inside: ClassVar[bool] = False
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
    config: Mapping[str, Json] = field(default_factory=dict)
    children: tuple[Flow, ...] = ()
    """Definitions that its subflows may be started from."""
    receipt: Receipt = field(default_factory=Receipt)

    def event(self, at: datetime) -> RunStarted:
        return RunStarted(
            at=at,
            flow_id=self.flow_id,
            run_id=self.run_id,
            input=self.input,
            has_input=self.has_input,
            attributes=dict(self.attributes),
            delay=self.delay,
            request_id=self.request_id,
            timeout=self.timeout,
            timeout_policy=self.timeout_policy,
            config=dict(self.config),
        )


@dataclass(frozen=True, slots=True)
class Started:
    """`run` is the number of the run in its store; not `is_new`: it was there, `return_existing`."""

    flow_id: str
    run_id: str
    run: int
    is_new: bool


@dataclass(slots=True)
class Request:
    """A client wants something of the latest run of a flow id; its receipt is None."""

    is_inside: ClassVar[bool] = False
    flow_id: str
    event: Callable[[datetime], Event]
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class Travel:
    """A client sends the latest run of a flow id back in time."""

    is_inside: ClassVar[bool] = False
    flow_id: str
    target: Target
    reapplies: bool
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class Migrate:
    """A running run is moved to another definition; its receipt is None, or refused with Unfit."""

    is_inside: ClassVar[bool] = False
    run: int
    flow_id: str
    case: Comparison
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class Call:
    """A client calls an RPC of a run; its receipt is the output.

    `returned`: what its handler gave, called before on a snapshot of `run`. Without it the handler, if there
    is one, is called inside the transaction.
    """

    flow_id: str
    name: str
    input: Json = None
    has_input: bool = False
    request_id: str | None = None
    run: int | None = None
    returned: Returned | None = None
    bind: Callable[[Flow], BoundHandler] | None = None
    """Finds the handler; None: there is none."""
    services: Services = NO_SERVICES
    origin: Any = None
    """The span of the caller, for traces."""
    receipt: Receipt = field(default_factory=Receipt)

    @property
    def is_inside(self) -> bool:
        """Its handler is called inside the transaction."""
        return self.bind is not None and self.returned is None


@dataclass(slots=True)
class Leased:
    """Concerns a task that this process has leased."""

    task: Task
    failed_count: int = field(default=0, kw_only=True)
    """How often the database refused the commit that it was in."""
    is_inside: ClassVar[bool] = False
    """Calls a handler inside the transaction."""


@dataclass(slots=True)
class Report(Leased):
    """A handler has ended, one way or the other."""

    event: Callable[[datetime], Event]


@dataclass(slots=True)
class Performance(Leased):
    """A transactional handler is to be called inside the transaction."""

    is_inside: ClassVar[bool] = True
    services: Services


@dataclass(slots=True)
class Beat(Leased):
    """A handler has reported progress."""

    value: Json


@dataclass(slots=True)
class Return(Leased):
    """It has not begun, and will not be: others may have it."""


Wish: TypeAlias = Start | Request | Travel | Migrate | Call
"""Of a client, who is answered."""
Submission: TypeAlias = Wish | Report | Performance | Beat | Return
