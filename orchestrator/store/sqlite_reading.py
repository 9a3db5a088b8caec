"""Reads of one snapshot of a SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from orchestrator.core.pauses import Pauses
from orchestrator.store.queues import Queues, queues_of
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sql_reading import SqlReading, pauses_of
from orchestrator.store.statistics import Statistics


class SqliteReading(SqlReading):
    """See contract.Reading."""

    def __init__(self, connection: sqlite3.Connection, cursor: sqlite3.Cursor | None = None) -> None:
        """`cursor`: one of the connection that is kept; to make one costs as much as a row."""
        self._connection = connection
        self._cursor = cursor or connection.cursor()

    def statistics(self, now: datetime) -> Statistics:
        page_size, free_count = self._pragma("page_size"), self._pragma("freelist_count")
        used_bytes = page_size * (self._pragma("page_count") - free_count)
        return self._statistics(now, used_bytes=used_bytes, free_bytes=page_size * free_count)

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    def _all(self, name: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._cursor.execute(STATEMENTS[name], parameters).fetchall()

    def _one(self, name: str, *parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._cursor.execute(STATEMENTS[name], parameters).fetchone()
        return row

    def _listed(self, values: Iterable[object]) -> object:
        return json.dumps(list(values))


def read_queues(connection: sqlite3.Connection) -> Queues:
    return queues_of(connection.execute(STATEMENTS["all_queues"]).fetchall())


def read_pauses(connection: sqlite3.Connection) -> Pauses:
    return pauses_of(connection.execute(STATEMENTS["all_pauses"]).fetchall())
