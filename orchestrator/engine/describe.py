"""Runs and their history as JSON, as `describe -o json` and `history -o jsonl` show them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct, to_builtins

from orchestrator.core.changes import ENDS, WORDS, StepEnded
from orchestrator.core.codec import decode
from orchestrator.core.description import describe_run as describe_run
from orchestrator.core.description import phase_of as phase_of
from orchestrator.core.description import time_text as time_text
from orchestrator.core.pauses import Pauses
from orchestrator.core.state import Status
from orchestrator.definition.model import Json
from orchestrator.store.contract import Head, HistoryRow
from orchestrator.store.times import from_micros


def describe_head(head: Head, pauses: Pauses) -> dict[str, Json]:
    return {
        "flow_id": head.flow_id,
        "run_id": head.run_id,
        "run_attempt": head.attempt,
        "flow": head.flow,
        "definition": head.definition,
        "status": head.status,
        "paused": head.status == Status.RUNNING and pauses.covers_flow(head.flow),
        "started_at": time_text(from_micros(head.started_at)),
        "closed_at": time_text(from_micros(head.closed_at)) if head.closed_at is not None else None,
    }


def describe_commit(row: HistoryRow) -> dict[str, Json]:
    return {
        "version": row.version,
        "at": time_text(from_micros(row.at)),
        "event": row.kind,
        "step_execution_id": row.execution_id,
        "changes": [_change(change) for change in decode(row.body)],
    }


def _change(change: Any) -> dict[str, Json]:
    fields = _fields(change)
    if isinstance(change, StepEnded):
        fields["how"] = ENDS[fields.pop("end")]
    return {"change": WORDS[type(change)], **fields}


def _fields(value: Struct) -> dict[str, Json]:
    """A struct's fields that say something, by name (they are stored as arrays)."""
    fields: dict[str, Json] = {}
    for name in value.__struct_fields__:
        content = getattr(value, name)
        if content is None or content == () or content == {}:
            continue
        fields[name] = _plain(content)
    return fields


def _plain(value: Any) -> Json:
    if isinstance(value, Struct):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return time_text(value)
    return to_builtins(value)
