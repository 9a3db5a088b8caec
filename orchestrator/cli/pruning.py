"""`db prune`: ask, then delete portion by portion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from orchestrator.cli.options import parse_span
from orchestrator.cli.questions import confirm
from orchestrator.cli.session import open_client
from orchestrator.cli.settings import resolve_settings
from orchestrator.cli.spans import format_moment
from orchestrator.cli.terminal import note
from orchestrator.engine.upkeep import (
    count_old,
    cut_of,
    delete_objects_left,
    prune_all,
    prune_definitions,
)
from orchestrator.errors import UsageError


def _cut(db: str | None, older_than: str | None, before: str | None) -> tuple[datetime | None, timedelta]:
    """A moment, or else a span from now."""
    if before is not None and older_than is not None:
        raise UsageError("either --before or --older-than")
    if before is not None:
        return _moment(before), timedelta()
    span = parse_span(older_than, "--older-than")
    if span is None:
        span = parse_span(resolve_settings(db).retention, "retention")
    if span is None:
        raise UsageError(
            "say how old: --older-than 30d, --before DATE, or `retention` under [tool.orchestrator]"
        )
    return None, span


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--before: `{text}` is no date or time, such as 2030-01-31T12:00Z") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def prune_store(
    db: str | None, older_than: str | None, before_text: str | None, batch: int, *, is_confirmed: bool
) -> dict[str, Any]:
    moment, span = _cut(db, older_than, before_text)
    with open_client(db) as client:
        engine = client.engine
        before = moment or cut_of(engine, span)
        count = count_old(engine, before)
        runs = "run" if count == 1 else "runs"
        if count:
            confirm(f"Delete {count} {runs} that closed before {format_moment(before)}?", is_confirmed)
        left_count = delete_objects_left(engine)
        pruned_count = sum(prune_all(engine, before, batch=batch))
        definition_count = prune_definitions(engine)
    if left_count:
        runs = "run" if left_count == 1 else "runs"
        note(f"deleted the objects of {left_count} {runs} that an earlier pruning had left behind")
    note(f"deleted {pruned_count} runs that closed before {format_moment(before)}")
    return {
        "before": before.isoformat().replace("+00:00", "Z"),
        "runs": pruned_count,
        "definitions": definition_count,
    }
