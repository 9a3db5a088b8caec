"""The state of a run, to be painted on its flow's diagram. Plain counts: whoever has a run can fill it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MarkState(StrEnum):
    DONE = "done"
    ACTIVE = "active"
    WAITING = "waiting"
    RETRYING = "retrying"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MISSED = "missed"
    """Coverage: what of the step never came. It is no state of the step: its count is 0."""


@dataclass(frozen=True, slots=True)
class Mark:
    """`count` executions of a step in one state; `text` says more.

    Waiting: for what and since when; retrying: attempt and next time; failed: the message.
    """

    state: MarkState
    count: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True)
class TraceMark:
    """One event of a trace. `card` and `port` say where: `step:Charge` and `d2`, or a channel's rail alone.

    No card: it has no place on the diagram.
    """

    number: int
    thread: str
    """Who it happens to: `Charge-1`."""
    text: str
    card: str = ""
    port: str = ""
    targets: frozenset[str] = frozenset()
    """Cards that it starts."""
    rails: frozenset[str] = frozenset()
    """Channels that it takes from or publishes to."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The way to a problem: numbered on the diagram, told below it."""

    title: str
    marks: tuple[TraceMark, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunOverlay:
    """A step without marks was not reached and is drawn faded."""

    title: str = ""
    """`edit-1, RUNNING`; stands below the flow's name."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """By step name."""
    taken: Mapping[str, int] = field(default_factory=dict)
    """By decision: `EditContract/2` → how often."""
    queued: Mapping[str, int] = field(default_factory=dict)
    """By channel: unread messages."""
    trace: Trace | None = None

    def state_of(self, step: str) -> MarkState | None:
        """The state that wants attention most; None: not reached."""
        states = [mark.state for mark in self.marks.get(step, ()) if mark.count > 0]
        return min(states, key=_URGENCY.index, default=None)

    def is_passed_by(self, owner: str, suffix: str) -> bool:
        """True when others of the owner's decisions were taken, or could have been, and this one never."""
        if self.taken.get(f"{owner}/{suffix}", 0):
            return False
        if owner in self.marks:
            return self.done_count(owner) > 0
        return any(name.startswith(f"{owner}/") for name in self.taken)

    def done_count(self, step: str) -> int:
        return sum(mark.count for mark in self.marks.get(step, ()) if mark.state is MarkState.DONE)


_URGENCY = (
    MarkState.FAILED,
    MarkState.RETRYING,
    MarkState.ACTIVE,
    MarkState.WAITING,
    MarkState.DONE,
    MarkState.CANCELLED,
    MarkState.MISSED,
)
