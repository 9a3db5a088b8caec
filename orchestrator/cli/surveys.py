"""`db status` as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from orchestrator.cli.layout import columns
from orchestrator.cli.spans import format_moment, parse_moment
from orchestrator.definition.durations import span_words

_KIB = 1024


def survey_as_text(survey: Mapping[str, Any], now: datetime) -> str:
    return "\n".join("".join(row).rstrip() for row in columns(list(_rows(survey, now))))


def size_text(size: int) -> str:
    """`512 B`, `1.5 MiB`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < _KIB:
            break
        amount, unit = amount / _KIB, larger
    return f"{amount:.1f} {unit}" if unit != "B" else f"{size} B"


def _rows(survey: Mapping[str, Any], now: datetime) -> Iterator[list[str]]:
    rows = survey["rows"]
    yield ["database", survey["db"]]
    yield ["schema version", str(survey["schema_version"])]
    yield ["size", f"{size_text(survey['file_bytes'])}, of which {size_text(survey['free_bytes'])} free"]
    yield ["log", size_text(survey["wal_bytes"])]
    runs = ", ".join(f"{count} {status}" for status, count in survey["runs"].items())
    yield ["runs", runs or "none"]
    yield ["oldest running", _ago(survey["oldest_running_at"], now)]
    yield ["oldest closed", _ago(survey["oldest_closed_at"], now)]
    yield [
        "active steps",
        f"{rows['steps']}: {survey['leased']} with a worker, {survey['due']} ready for one",
    ]
    yield ["unread messages", str(rows["messages"])]
    yield ["history", f"{rows['history']} commits"]
    yield ["definitions", str(rows["definitions"])]
    yield ["workers", str(survey["workers"])]
    yield ["paused", ", ".join(survey["paused"]) or "nothing"]


def _ago(text: str | None, now: datetime) -> str:
    moment = parse_moment(text)
    if moment is None:
        return "none"
    return f"{format_moment(moment)}, {span_words(now - moment)} ago"
