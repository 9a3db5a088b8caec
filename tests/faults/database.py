"""The database of a trial, beside the engine: what is in its tables, and who is connected."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import psycopg

from orchestrator.store.postgres_url import is_postgres, read_url

_AGAIN_AFTER = 0.1
_LONGEST = 60.0
Row = tuple[Any, ...]


class Database:
    """Connects anew for each question, and waits for a server that is just starting."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_postgres = is_postgres(url)

    def ask(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        ends_at = time.monotonic() + _LONGEST
        while True:
            try:
                return self._ask(sql, parameters)
            except (psycopg.OperationalError, sqlite3.OperationalError):
                if time.monotonic() > ends_at:
                    raise
                time.sleep(_AGAIN_AFTER)

    def number(self, sql: str) -> int:
        return int(self.ask(sql)[0][0] or 0)

    def _ask(self, sql: str, parameters: Sequence[object]) -> list[Row]:
        with closing(self._connect()) as connection:
            cursor = connection.execute(sql, parameters)
            rows = cursor.fetchall() if cursor.description is not None else []
            connection.commit()
            return [tuple(row) for row in rows]

    def _connect(self) -> Any:
        if self.is_postgres:
            return psycopg.connect(read_url(self.url).conninfo)
        return sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=_LONGEST)

    # --- Progress ---

    def commit_count(self) -> int:
        return self.number("SELECT count(*) FROM history")

    def open_count(self) -> int:
        return self.number("SELECT count(*) FROM runs WHERE status = 'RUNNING'")
