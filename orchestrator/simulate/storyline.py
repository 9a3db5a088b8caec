"""What a run is to go through, without its data: the way to a violation, for which data are to be found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.definition.model import Json


class BeatKind(StrEnum):
    WAIT_FOR = "wait_for"
    """A wait_for handler returned its wait."""
    WAIT_FOR_FAILED = "wait_for_failed"
    SATISFIED = "satisfied"
    CHILD_CLOSED = "child_closed"
    """The run that a subflow condition waits for has closed."""
    DECIDED = "decided"
    FAILED = "failed"
    """Execute failed for good."""
    PUBLISHED = "published"
    RPC = "rpc"
    TIMED_OUT = "timed_out"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Given:
    """What the storyline leaves no choice in: how long a list is, what a handler chose."""

    what: str
    """`publishes <channel>`, `sets <attribute>`, `cancels <step>`, `wait`, the id of a subflow condition, or
    the text of an expression."""
    value: Json


@dataclass(frozen=True, slots=True)
class Beat:
    """One event. `execution_id` as the storyline counts; a run may count otherwise."""

    kind: BeatKind
    name: str = ""
    """Step, RPC, or the channel that is published to."""
    execution_id: str = ""
    decision: int | None = None
    otherwise_count: int = 0
    conditions: tuple[str, ...] = ()
    """Ids of the conditions that end a wait, or whose child has closed."""
    starts: tuple[str, ...] = ()
    """Steps, one for each execution."""
    given: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class Storyline:
    """`beats` in order; then, before the `cycle`, the run stands as `status`, `active` and `unread` say."""

    beats: tuple[Beat, ...]
    status: str
    active: tuple[str, ...] = ()
    """Step executions."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Unread messages by channel; those not named have none."""
    is_at_rest: bool = False
    """True: from there on nothing can move without a client."""
    cycle: tuple[Beat, ...] = ()
    """What may repeat from there on; told once."""

    def __post_init__(self) -> None:
        assert self.beats, "a story has a beginning"

    @property
    def all_beats(self) -> tuple[Beat, ...]:
        return (*self.beats, *self.cycle)

    def sizes(self) -> tuple[int, ...]:
        """Every whole number that is given, such as lengths of lists."""
        found = [
            each.value
            for beat in self.all_beats
            for each in beat.given
            if isinstance(each.value, int) and not isinstance(each.value, bool)
        ]
        return tuple(dict.fromkeys(found))
