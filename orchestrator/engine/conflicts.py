"""Where several processes write at once, what one has decided may be overtaken: then it is done again."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.errors import StoreConflict

MAXIMUM_CONFLICTS = 30
"""In a row; after so many somebody else has to say what is wrong."""


def persistently(attempt: Callable[[], None]) -> None:
    """Raises StoreConflict in the end."""
    for tries_left in reversed(range(MAXIMUM_CONFLICTS)):
        try:
            return attempt()
        except StoreConflict:
            if not tries_left:
                raise
    return None
