"""One state of the search: executions in each place, unread messages, what is remembered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from orchestrator.core.state import Status
from orchestrator.verify.places import Place
from orchestrator.verify.report import EventKind, Guess
from orchestrator.verify.unknown import Frozen

Counts: TypeAlias = tuple[tuple[int, int], ...]
"""(number of a place or queue, how many), sorted, none of them zero."""


class RoundCount(NamedTuple):
    """A round of a join, its branches counted."""

    name: str
    """`<join>/<slot>`: slots are used again once a round is forgotten."""
    branch_count: int
    counting: int
    missed: int
    members: int
    is_cancelled: bool
    report_count: int


class State(NamedTuple):
    marking: Counts
    queues: Counts
    data: tuple[Frozen, ...]
    """Known parts of the steering attributes, then of the start input."""
    rounds: tuple[RoundCount, ...]
    budget: tuple[int, ...]
    """What each source outside may still do."""
    is_completing: bool
    has_timed_out: bool
    status: Status

    @property
    def is_running(self) -> bool:
        return self.status is Status.RUNNING


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One thing that can happen at a place (or to the run), and what it changes: the edges of the search."""

    kind: EventKind
    step: str | None
    """Step, or RPC."""
    path: tuple[str | int, ...]
    places: Counts
    """Changes of the marking."""
    queues: Counts
    """Changes of the queues."""
    data: tuple[Frozen, ...] | None = None
    """None: as before."""
    rounds: tuple[RoundCount, ...] | None = None
    """None: as before."""
    source: int | None = None
    """Which budget it spends."""
    is_completing: bool = False
    times_out: bool = False
    status: Status = Status.RUNNING
    decision: int | None = None
    otherwise_count: int = 0
    conditions: tuple[str, ...] = ()
    channel: str | None = None
    guesses: tuple[Guess, ...] = ()
    actor: Place | None = None
    becomes: Place | None = None
    """Where the actor is afterwards, if it is the same execution still."""
    starts: tuple[tuple[Place, int], ...] = ()
    cancels: tuple[tuple[Place, int], ...] = ()
    depth: int = 0
    """How deep rounds are nested around what it starts."""
