"""What `db status` tells of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is in a store."""

    schema_version: int
    used_bytes: int
    free_bytes: int
    """What `vacuum` gives back."""
    run_counts: Mapping[str, int]
    """By status."""
    row_counts: Mapping[str, int]
    """By table: definitions, history, messages (unread), steps (active)."""
    oldest_running_at: datetime | None
    oldest_closed_at: datetime | None
    leased_count: int
    due_count: int
    """Work that is due and nobody's."""
