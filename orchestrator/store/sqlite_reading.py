"""Reads of one snapshot of a SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import repeat
from operator import itemgetter
from typing import Any

from orchestrator.core.pauses import Pauses
from orchestrator.store.contract import Statistics
from orchestrator.store.queues import Queues, queues_of
from orchestrator.store.sql import STATEMENTS
from orchestrator.store.sql_reading import OF_RUN, Row, SqlReading, pauses_of

_PLACE = itemgetter(0, 1)
_SHAPES: tuple[tuple[str, Callable[[Row], Row]], ...] = (
    ("run_payload", itemgetter(5, 2, 3)),
    ("steps_of", itemgetter(2, 3, 5)),
    ("messages_of", itemgetter(1, 2, 3, 5)),
    ("attributes_of", itemgetter(2, 3, 4, 5)),
    ("rounds_of", itemgetter(0, 1)),
    ("outputs_of", itemgetter(slice(5, 6))),
)
"""What the statements of OF_RUN show of the rows of `rows_of_run`; of rounds only that there are some."""


class SqliteReading(SqlReading):
    """See contract.Reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def statistics(self, now: datetime) -> Statistics:
        page_size, free_count = self._pragma("page_size"), self._pragma("freelist_count")
        used_bytes = page_size * (self._pragma("page_count") - free_count)
        return self._statistics(now, used_bytes=used_bytes, free_bytes=page_size * free_count)

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    def _all(self, name: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(STATEMENTS[name], parameters).fetchall()

    def _rows_of_run(self, run: int) -> dict[str, list[Row]]:
        """One question: to ask costs more than the few rows that there are."""
        rows = self._all("rows_of_run", *repeat(run, len(OF_RUN)))
        if len(rows) > 2:
            rows.sort(key=_PLACE)
        found: dict[str, list[Row]] = {name: [] for name in OF_RUN}
        for row in rows:
            name, columns = _SHAPES[row[0]]
            found[name].append(columns(row))
        if found["rounds_of"]:
            found["rounds_of"] = self._all("rounds_of", run)
        return found

    def _one(self, name: str, *parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(STATEMENTS[name], parameters).fetchone()
        return row

    def _listed(self, values: Iterable[object]) -> object:
        return json.dumps(list(values))


def read_queues(connection: sqlite3.Connection) -> Queues:
    return queues_of(connection.execute(STATEMENTS["all_queues"]).fetchall())


def read_pauses(connection: sqlite3.Connection) -> Pauses:
    return pauses_of(connection.execute(STATEMENTS["all_pauses"]).fetchall())
