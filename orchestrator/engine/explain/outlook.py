"""How soon something can happen, and what that makes of a run."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Outlook(IntEnum):
    """By what an execution can move at the soonest: the least of alternatives, the greatest of needs."""

    NOW = 0
    """It is ready or running, or what moves it is."""
    TIMER = 1
    """A timer, a retry or the deadline must come first."""
    SUBFLOW = 2
    """Another run must close first."""
    OUTSIDE = 3
    """A client must publish, or call an RPC."""
    NEVER = 4
    """Nobody can."""

    @property
    def word(self) -> str:
        return self.name.lower()


class Verdict(StrEnum):
    PROGRESSING = "progressing"
    TIMER = "waiting_for_timer"
    SUBFLOW = "waiting_for_subflow"
    OUTSIDE = "waiting_for_outside"
    STUCK = "stuck"
    CLOSED = "closed"


VERDICTS = {
    Outlook.NOW: Verdict.PROGRESSING,
    Outlook.TIMER: Verdict.TIMER,
    Outlook.SUBFLOW: Verdict.SUBFLOW,
    Outlook.OUTSIDE: Verdict.OUTSIDE,
    Outlook.NEVER: Verdict.STUCK,
}
TITLES = {
    Verdict.PROGRESSING: "progressing",
    Verdict.TIMER: "waiting for a timer",
    Verdict.SUBFLOW: "waiting for a subflow",
    Verdict.OUTSIDE: "waiting for the outside",
    Verdict.STUCK: "stuck, nobody can move it",
    Verdict.CLOSED: "closed",
}
