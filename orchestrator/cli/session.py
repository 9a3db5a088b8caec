"""Opening what commands work on: the store, the client, the flows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from orchestrator.cli.settings import Settings, resolve_settings
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from orchestrator.engine.client import Client


def now() -> datetime:
    from orchestrator.clock import SystemClock

    return SystemClock().now()


def demand_store(settings: Settings) -> None:
    """A SQLite file that is not there holds no runs; do not make an empty one to say so."""
    prefix, _, path = settings.db.partition(":///")
    file = Path(unquote(path.partition("?")[0]))
    if prefix == "sqlite" and path and not file.exists():
        raise NotFound(
            f"there is no database {file}; start a run first, or name another with --db", db=settings.db
        )
