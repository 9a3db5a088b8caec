"""Caring for a SQLite store: deleting what is old, whole runs in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime

from orchestrator.store.contract import DefinitionRow, RunRecord
from orchestrator.store.objects import mark_of
from orchestrator.store.sql import COLUMNS, RUN_TABLES, STATEMENTS
from orchestrator.store.sqlite_reading import SqliteReading
from orchestrator.store.times import to_micros


class SqliteUpkeep(SqliteReading):
    """See contract.Transaction."""

    last_run: int

    def prune(self, before: datetime, limit: int) -> list[int]:
        runs = [run for (run,) in self._all("prunable_runs", to_micros(before), limit)]
        if runs:
            self._connection.execute(STATEMENTS["mark"], ("pruned_run", max(runs)))
            for table in RUN_TABLES:
                self._connection.execute(STATEMENTS[f"prune_{table}"], (json.dumps(runs),))
        return runs

    def note_objects_left(self, runs: Iterable[int]) -> None:
        marks = [(mark_of(run), run) for run in sorted(runs)]
        self._connection.executemany(STATEMENTS["mark"], marks)

    def note_objects_gone(self, runs: Iterable[int]) -> None:
        self._connection.executemany(STATEMENTS["unmark"], [(mark_of(run),) for run in sorted(runs)])

    def prune_definitions(self) -> list[str]:
        return [hash for (hash,) in self._all("delete_unused_definitions")]

    def import_run(self, run: int, record: RunRecord) -> None:
        for table in RUN_TABLES:
            rows = [(run, *(row[column] for column in COLUMNS[table])) for row in record[table]]
            try:
                rows = self.bodies.seal_imported(table, rows)
                self._connection.executemany(STATEMENTS[f"import_{table}"], rows)
            except (sqlite3.IntegrityError, OverflowError) as error:
                raise ValueError(f"`{table}`: {error}") from None

    def import_definition(self, row: DefinitionRow) -> None:
        self._connection.execute(STATEMENTS["insert_definition"], row)


def vacuum(connection: sqlite3.Connection) -> None:
    """Outside a transaction: rewrite the file without its free pages, and empty the log."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
