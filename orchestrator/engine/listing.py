"""The heads of runs, as `list` shows them."""

from __future__ import annotations

import sys
from itertools import islice

from orchestrator.definition.model import Json
from orchestrator.engine.arguments import optional_text, whole
from orchestrator.engine.describe import describe_head
from orchestrator.engine.engine import Engine
from orchestrator.errors import UsageError


def list_runs(engine: Engine, where: str | None, limit: int | None) -> list[dict[str, Json]]:
    """See Client.search."""
    if limit is not None and whole(limit, "limit") < 1:
        raise UsageError(f"at least 1 run is asked for, not {limit}")
    where = optional_text(where, "where")
    with engine.store.reading() as reading:
        pauses = reading.find_pauses()
        found = reading.heads()
        if where is not None:
            from orchestrator.engine.search import Search  # brings CEL

            found = Search(where, engine.definitions).find(reading)
        return [
            describe_head(head, pauses)
            for head in islice(found, None if limit is None else min(limit, sys.maxsize))
        ]
