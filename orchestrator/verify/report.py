"""What verification says of a flow: a verdict a property, and a shortest counterexample of a violated one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.definition.model import Flow, Json, Path


class Verdict(StrEnum):
    """From best to worst, as a flow's verdict is its worst property's."""

    PROVED = "proved"
    """For any fan-out."""
    CHECKED = "checked"
    """Within the bounds stated."""
    UNKNOWN = "unknown"
    """The budget was spent before the search ended."""
    VIOLATED = "violated"


class EventKind(StrEnum):
    """What happens in one event of a trace."""

    WAIT_FOR = "wait_for"
    """A wait_for handler built the wait."""
    WAIT_FOR_FAILED = "wait_for_failed"
    SATISFIED = "satisfied"
    """A wait is over: the conditions `conditions` won."""
    CHILD_CLOSED = "child_closed"
    """The run that a subflow condition waits for has closed."""
    DECIDED = "decided"
    """Execute succeeded (or there is none) and decision `decision` was taken."""
    FAILED = "failed"
    """Execute failed for good: to the failure route, or the run fails."""
    PUBLISHED = "published"
    """A client published to an external channel."""
    RPC = "rpc"
    TIMED_OUT = "timed_out"
    """The flow's deadline came."""
    COMPLETED = "completed"
    """Nothing is active and a graceful completion was asked for."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What the search chose where the definition leaves it open: a guard, a length, a number of messages."""

    path: Path
    """Of the expression or declaration in the definition."""
    what: str
    """`when`, `for_each`, `count`, `may.publish.<channel>`, `choice`, `wait`, …"""
    value: Json


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a trace, on concrete step executions."""

    kind: EventKind
    step: str | None
    """Step, or the RPC's name; None for what happens to the run."""
    step_execution_id: str | None
    path: Path
    """Where in the definition: decision, failure route, wait condition, channel, RPC, timeout."""
    decision: int | None = None
    """Position in `decide`, from 1."""
    otherwise_count: int = 0
    conditions: tuple[str, ...] = ()
    """Ids of the conditions that won."""
    channel: str | None = None
    """`published` only."""
    guesses: tuple[Guess, ...] = ()
    starts: tuple[str, ...] = ()
    """Step executions queued, in order."""
    cancels: tuple[str, ...] = ()
    channels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Unread messages before and after, of the channels that changed."""
    closes: str | None = None
    """Status of the run where this closes it."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """One execution that cannot go on in the last state of a trace, or is otherwise to blame there."""

    step: str
    step_execution_id: str
    reason: str
    path: Path


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A shortest way to the violation, from a run just started."""

    events: tuple[Event, ...]
    cycle: tuple[Event, ...] = ()
    """Livelocks: what repeats for ever after `events`."""
    stuck: tuple[Stuck, ...] = ()
    channels: Mapping[str, int] = field(default_factory=dict)
    """Unread messages in the last state."""
    active: tuple[str, ...] = ()
    """Step executions in the last state."""
    status: str = "RUNNING"
    """Of the run in the last state."""

    @property
    def length(self) -> int:
        return len(self.events)


@dataclass(frozen=True, slots=True)
class PropertyReport:
    """`name` as cli.md spells it; `rule` the lint code under which it is reported."""

    name: str
    rule: str
    verdict: Verdict
    message: str
    path: Path = ()
    """Where the problem is shown."""
    also: tuple[tuple[Path, str], ...] = ()
    help: str = ""
    counterexample: Counterexample | None = None
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class FlowReport:
    flow: Flow
    verdict: Verdict
    states: int
    seconds: float
    fan_out: tuple[int, ...]
    external: Mapping[str, tuple[int, int]]
    """Least and most messages from outside, by external channel."""
    properties: tuple[PropertyReport, ...]
