"""What history calls the commit that moves a run to another definition."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class RunMigrated(Struct, frozen=True, kw_only=True):
    """No event of `decide`: it needs two definitions."""

    at: datetime
