"""One thing that is not the same in two versions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Place:
    """From 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    what: str
    """`step`, `channel`, `attribute`, `join`, `rpc` or `flow`."""
    name: str
    """In the new version; of what is removed, in the old one."""
    old_name: str = ""
    """Of what is renamed."""
    detail: str = ""
    """What changed inside: `execute.retry.maximum_attempts: 3 → 5`."""
    old: Place | None = None
    new: Place | None = None

    @property
    def text(self) -> str:
        subject = self.what if self.what == "flow" else f"{self.what} {self.name}"
        if self.kind is ChangeKind.RENAMED:
            return f"{self.what} {self.old_name} is now {self.name}"
        return f"{subject}: {self.detail}" if self.detail else subject
