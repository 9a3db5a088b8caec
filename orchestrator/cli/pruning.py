"""`db prune`: ask, then delete portion by portion."""

from __future__ import annotations

from typing import Any

from orchestrator.cli.options import parse_span
from orchestrator.cli.questions import confirm
from orchestrator.cli.session import open_client
from orchestrator.cli.settings import resolve_settings
from orchestrator.cli.spans import format_moment
from orchestrator.cli.terminal import note
from orchestrator.engine.upkeep import count_old, cut_of, prune_definitions, prune_some
from orchestrator.errors import UsageError


def prune_store(db: str | None, older_than: str | None, *, is_confirmed: bool) -> dict[str, Any]:
    span = parse_span(older_than, "--older-than")
    if span is None:
        span = parse_span(resolve_settings(db).retention, "retention")
    if span is None:
        raise UsageError("say how old: --older-than 30d, or `retention` under [tool.orchestrator]")
    with open_client(db) as client:
        engine = client.engine
        before = cut_of(engine, span)
        count = count_old(engine, before)
        runs = "run" if count == 1 else "runs"
        if count:
            confirm(f"Delete {count} {runs} that closed before {format_moment(before)}?", is_confirmed)
        pruned_count = 0
        while found := prune_some(engine, before):
            pruned_count += found
        definition_count = prune_definitions(engine)
    note(f"deleted {pruned_count} runs that closed before {format_moment(before)}")
    return {
        "before": before.isoformat().replace("+00:00", "Z"),
        "runs": pruned_count,
        "definitions": definition_count,
    }
