"""What an attempt to tell a story draws, does, and comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from orchestrator.core.events import Event
from orchestrator.definition.model import Json
from orchestrator.simulate.calls import CallEnd
from orchestrator.simulate.record import SimulatedRun
from orchestrator.simulate.script import CallKey, ScriptedChild


class Slot(NamedTuple):
    """Something that data are drawn for: the start input, a call, what a client sends, a child's output."""

    kind: str
    name: str = ""


INPUT = Slot("input")


class Mishap(Exception):
    """The run went another way. `slots`: whose other data could help, the likeliest first.

    `exhausted`: has no data left to try.
    """

    def __init__(self, reason: str, slots: Sequence[Slot], exhausted: Slot | None = None) -> None:
        super().__init__(reason)
        self.exhausted = exhausted
        self.reason = reason
        self.slots = tuple(slots)


@dataclass(frozen=True, slots=True)
class Call:
    """What one call of a handler did."""

    key: CallKey
    execution_id: str
    end: CallEnd


@dataclass(frozen=True, slots=True)
class Act:
    """What a client did, `at` after the start; or right after an execution's Execute was committed."""

    at: timedelta
    event: Event
    after: str | None = None


@dataclass(slots=True)
class Take:
    """An attempt that went as told."""

    simulated: SimulatedRun
    input: Json
    has_input: bool
    delay: timedelta | None = None
    """Of the start step."""
    calls: list[Call] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    children: Mapping[str, ScriptedChild] = field(default_factory=dict)
    until: timedelta | None = None
    """None: until nothing moves."""
