"""What a rehearsal says: how a run starts, what handlers answer, what clients do, what must come of it.

Each part keeps its `path` in the rehearsal file, so that a difference can be shown at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from orchestrator.core.events import NO_EFFECTS, Event, Failure, HandlerEffects, HandlerWait
from orchestrator.definition.model import Flow, Json, Path
from orchestrator.definition.source import Source

STARTS_AT = datetime(2030, 1, 1, tzinfo=UTC)
UNTIL = timedelta(days=3650)
ON_TIMEOUT = "on_timeout"
"""How a rehearsal calls the timeout handler."""


class CallKind(StrEnum):
    EXECUTE = "execute"
    WAIT_FOR = "wait_for"
    RPC = "rpc"


class CallKey(NamedTuple):
    """One handler of a flow: of a step's execute or wait_for, or of an RPC."""

    kind: CallKind
    name: str

    @property
    def text(self) -> str:
        """As the keys of `handlers:` spell it."""
        match self.kind:
            case CallKind.EXECUTE:
                return self.name
            case CallKind.WAIT_FOR:
                return f"{self.name}.wait_for"
            case CallKind.RPC:
                return f"rpc.{self.name}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call of a handler does: fails, returns, or asks the real function."""

    takes: timedelta = timedelta(0)
    is_real: bool = False
    failure: Failure | None = None
    result: Json = None
    choice: str | None = None
    wait: HandlerWait | None = None
    effects: HandlerEffects = NO_EFFECTS


REAL = Reply(is_real=True)


@dataclass(frozen=True, slots=True)
class ScriptedChild:
    """How every child of one flow type ends, and when."""

    status: str = "COMPLETED"
    outputs: tuple[Json, ...] = ()
    error: dict[str, Json] | None = None
    takes: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a client acts: `span` after the start, or after something happened to an execution."""

    span: timedelta = timedelta(0)
    after: str | None = None
    """An execution whose Execute is committed; with `is_wait`: whose wait is accepted."""
    is_wait: bool = False

    @property
    def text(self) -> str:
        if self.after is None:
            return ""
        return f"the wait of {self.after} was accepted" if self.is_wait else f"{self.after} was executed"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client expects of its act: an output of an RPC, or a refusal by its type."""

    path: Path
    output: Json = None
    has_output: bool = False
    error: str | None = None
    message: str | None = None
    """Contained in the refusal's."""


MakeEvent: TypeAlias = Callable[[datetime], Event]


@dataclass(frozen=True, slots=True)
class ClientAct:
    text: str
    """Such as `publish to approval`."""
    trigger: Trigger
    event: MakeEvent
    path: Path
    flow_id: str | None = None
    """None: the run that is rehearsed."""
    answer: Answer | None = None


class PathMatch(StrEnum):
    EQUALS = "equals"
    STARTS_WITH = "starts_with"
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that must hold at the end; `key` says which, `value` what."""

    key: str
    value: Json
    path: Path


@dataclass(frozen=True, slots=True)
class Rehearsal:
    name: str
    path: Path
    flow_id: str
    description: str = ""
    input: Json = None
    has_input: bool = False
    attributes: Mapping[str, Json] = field(default_factory=dict)
    timeout: timedelta | None = None
    delay: timedelta | None = None
    starts_at: datetime = STARTS_AT
    until: timedelta = UNTIL
    replies: Mapping[CallKey, tuple[Reply, ...]] = field(default_factory=dict)
    children: Mapping[str, ScriptedChild] = field(default_factory=dict)
    acts: tuple[ClientAct, ...] = ()
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class RehearsalFile:
    source: Source
    flow: Flow
    flow_path: str
    rehearsals: tuple[Rehearsal, ...]
