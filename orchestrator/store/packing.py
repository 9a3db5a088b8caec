"""Rows as JSON and back: what a store keeps as bytes is JSON in an export."""

from __future__ import annotations

from typing import Any

import msgspec

from orchestrator.store.contract import RunRecord
from orchestrator.store.sql import COLUMNS, RUN_TABLES

JSON_COLUMNS = frozenset(
    {
        ("runs", "input"),
        ("runs", "state"),
        ("runs", "error"),
        ("messages", "value"),
        ("attributes", "value"),
        ("outputs", "body"),
        ("reports", "value"),
    }
)
MESSAGEPACK_COLUMNS = frozenset({("steps", "body"), ("history", "body"), ("history", "event")})
NULLABLE_COLUMNS = frozenset({("runs", "error"), ("history", "event")})


def unpack(record: RunRecord) -> RunRecord:
    """Bytes become JSON."""
    return {
        table: [{name: _unpack((table, name), value) for name, value in row.items()} for row in rows]
        for table, rows in record.items()
    }


def pack(content: Any) -> RunRecord:
    """The reverse. Raises ValueError for what is not an exported run."""
    record: RunRecord = {}
    for table in RUN_TABLES:
        rows = content.get(table) if isinstance(content, dict) else None
        if not isinstance(rows, list):
            raise ValueError(f"`{table}` is missing")
        record[table] = [_pack_row(table, row) for row in rows]
    if len(record["runs"]) != 1:
        raise ValueError("`runs` must hold one row")
    return record


def _pack_row(table: str, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"a row of `{table}` must be an object")
    missing = [name for name in COLUMNS[table] if name not in row]
    if missing:
        raise ValueError(f"a row of `{table}` lacks {', '.join(missing)}")
    return {name: _pack((table, name), row[name]) for name in COLUMNS[table]}


def _unpack(column: tuple[str, str], value: Any) -> Any:
    if value is None:
        return None
    if column in JSON_COLUMNS:
        return msgspec.Raw(value)
    return msgspec.msgpack.decode(value) if column in MESSAGEPACK_COLUMNS else value


def _pack(column: tuple[str, str], value: Any) -> Any:
    if value is None and column in NULLABLE_COLUMNS:
        return None
    if column in JSON_COLUMNS:
        return msgspec.json.encode(value)
    if column in MESSAGEPACK_COLUMNS:
        return msgspec.msgpack.encode(value)
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"`{'.'.join(column)}` must be text or a whole number")
