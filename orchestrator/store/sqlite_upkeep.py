"""Caring for a SQLite store: what is in it, deleting what is old, whole runs out and in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from itertools import starmap

from orchestrator.store.contract import DefinitionRow, RunRecord, Statistics, WorkerRow
from orchestrator.store.sql import PARAMETERS, STATEMENTS
from orchestrator.store.sqlite_reading import SqliteReading
from orchestrator.store.times import from_micros, to_micros

RUN_TABLES = tuple(name.removeprefix("export_") for name in STATEMENTS if name.startswith("export_"))
COLUMNS = {table: PARAMETERS[f"import_{table}"][1:] for table in RUN_TABLES}
"""Columns of the rows of a run, without the run's number."""


class SqliteSurvey(SqliteReading):
    """See contract.Reading."""

    def statistics(self, now: datetime) -> Statistics:
        page_size, free_count = self._pragma("page_size"), self._pragma("freelist_count")
        oldest_running, oldest_closed = self._row("oldest_runs")
        leased_count, due_count = self.work_counts(now)
        return Statistics(
            schema_version=self._row("installed_version")[0],
            used_bytes=page_size * (self._pragma("page_count") - free_count),
            free_bytes=page_size * free_count,
            run_counts=self.run_counts(),
            row_counts=dict(self._all("row_counts")),
            oldest_running_at=from_micros(oldest_running) if oldest_running is not None else None,
            oldest_closed_at=from_micros(oldest_closed) if oldest_closed is not None else None,
            leased_count=leased_count,
            due_count=due_count,
        )

    def run_counts(self) -> dict[str, int]:
        return dict(self._all("run_counts"))

    def work_counts(self, now: datetime) -> tuple[int, int]:
        leased_count, due_count = self._row("work_counts", to_micros(now))
        return leased_count, due_count

    def workers(self) -> list[WorkerRow]:
        return list(starmap(WorkerRow, self._all("all_workers")))

    def count_prunable(self, before: datetime) -> int:
        count: int = self._row("prunable_count", to_micros(before))[0]
        return count

    def run_numbers(self, flow_id: str | None = None) -> list[int]:
        rows = self._all("all_runs") if flow_id is None else self._all("runs_of", flow_id)
        return [run for (run,) in rows]

    def export_run(self, run: int) -> RunRecord:
        record: RunRecord = {}
        for table in RUN_TABLES:
            rows = self._all(f"export_{table}", run)
            record[table] = [dict(zip(COLUMNS[table], row, strict=True)) for row in rows]
        return record

    def export_definitions(self) -> Iterator[DefinitionRow]:
        for row in self._all("all_definitions"):
            yield DefinitionRow(*row)

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value


class SqliteUpkeep(SqliteSurvey):
    """See contract.Transaction."""

    last_run: int

    def prune(self, before: datetime, limit: int) -> list[int]:
        runs = [run for (run,) in self._all("prunable_runs", to_micros(before), limit)]
        if runs:
            self._connection.execute(STATEMENTS["mark"], ("pruned_run", runs[-1]))
            for table in RUN_TABLES:
                self._connection.execute(STATEMENTS[f"prune_{table}"], (json.dumps(runs),))
        return runs

    def prune_definitions(self) -> list[str]:
        return [hash for (hash,) in self._all("delete_unused_definitions")]

    def import_run(self, run: int, record: RunRecord) -> None:
        for table in RUN_TABLES:
            rows = [(run, *(row[column] for column in COLUMNS[table])) for row in record[table]]
            try:
                self._connection.executemany(STATEMENTS[f"import_{table}"], rows)
            except (sqlite3.IntegrityError, OverflowError) as error:
                raise ValueError(f"`{table}`: {error}") from None

    def import_definition(self, row: DefinitionRow) -> None:
        self._connection.execute(STATEMENTS["insert_definition"], row)


def vacuum(connection: sqlite3.Connection) -> None:
    """Outside a transaction: rewrite the file without its free pages, and empty the log."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
