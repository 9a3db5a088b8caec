"""No store where one was to be read."""

from __future__ import annotations

from orchestrator.errors import NotFound


def absent(fact: str, place: str) -> NotFound:
    return NotFound(f"{fact}; start a run first, or name another with --db", db=place)
