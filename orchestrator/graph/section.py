"""What is known of a critical section: a channel whose messages are tokens, and the steps that hold one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.definition.model import Path


class Evidence(StrEnum):
    """Why the channel counts as one of tokens."""

    DECLARED = "declared"
    """`verify.properties` has `conserved: <channel>`."""
    STRONG = "strong"
    """Its messages carry nothing, several branches compete for them, and who takes one gives it back."""
    WEAK = "weak"
    """Some steps take a message and give one back; it may as well be data. Findings are no mistakes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the definition that takes, publishes or seeds `count` tokens."""

    step: str
    path: Path
    count: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of the discipline, under the code by which it is reported."""

    code: str
    message: str
    path: Path
    is_key: bool = False
    """The key at `path` is meant, not its value."""
    also: tuple[tuple[Path, str], ...] = ()
    """Other places, and what to say there."""
    step: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """What counting cannot settle: neither a mistake nor a proof."""

    message: str
    path: Path


@dataclass(frozen=True, slots=True)
class Section:
    """One channel of tokens. Steps and places are in the order in which they are reached."""

    channel: str
    evidence: Evidence
    capacity: int
    """Tokens that may be out at once: the channel's `capacity`, else what is deliberately seeded, else 1."""
    seeded: int | None
    """Tokens that the run begins with; None: not known."""
    entries: tuple[Place, ...] = ()
    """Wait conditions that take a token."""
    members: Mapping[str, int] = field(default_factory=dict)
    """Tokens that an execution of the step holds for certain, whatever ended its wait; only steps that do."""
    holders: Mapping[str, int] = field(default_factory=dict)
    """Tokens that it may hold: more than for certain where a timer can end the wait as well."""
    least_on_entry: Mapping[str, int] = field(default_factory=dict)
    """Tokens that a branch holds for certain when it enters the step, before its wait."""
    held_on_entry: Mapping[str, int] = field(default_factory=dict)
    """Tokens that it may hold then: more than for certain where ways with and without one meet."""
    releases: tuple[Place, ...] = ()
    seeds: tuple[Place, ...] = ()
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def is_conserved(self) -> bool:
        """For any number of branches, unread tokens and held ones are together what was seeded."""
        return not self.findings and not self.doubts and self.seeded is not None

    @property
    def is_exclusive(self) -> bool:
        """Conserved, and at most one branch holds a token at any time."""
        return self.is_conserved and self.seeded == 1
