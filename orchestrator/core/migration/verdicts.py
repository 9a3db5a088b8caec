"""What is said of a place where a run may be."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

BETWEEN = " --map "


class Verdict(StrEnum):
    COMPATIBLE = "compatible"
    NEEDS_MAPPING = "needs_mapping"
    """It would be compatible if a name of the old definition were mapped to one of the new."""
    IMPOSSIBLE = "impossible"


class Standing(StrEnum):
    """Where a step execution is, as `describe` tells it apart."""

    WAIT_FOR = "wait_for"
    """Queued for its wait."""
    WAITING = "waiting"
    EXECUTE = "execute"
    """Queued for its Execute, or backing off."""
    RUNNING = "running"
    """A handler is at work in some process."""


class Obstacle(Struct, frozen=True):
    """One reason why a run at `place` cannot be moved as it is."""

    place: str
    """`step:Approve/waiting`, `channel:orders`, `attribute:total`, `join:reviews`, `deadline`, `run`."""
    reason: str
    mapping: str | None = None
    """What to give as `--map`, BETWEEN several; None: no mapping helps."""

    @property
    def mappings(self) -> list[str] | None:
        return None if self.mapping is None else self.mapping.split(BETWEEN)

    @property
    def verdict(self) -> Verdict:
        return Verdict.IMPOSSIBLE if self.mapping is None else Verdict.NEEDS_MAPPING


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    return max(verdicts, key=list(Verdict).index, default=Verdict.COMPATIBLE)


def step_place(step: str, standing: Standing) -> str:
    return f"step:{step}/{standing}"
