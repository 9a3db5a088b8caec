"""Caring for a PostgreSQL store: deleting what is old, whole runs in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import psycopg

from orchestrator.store.contract import DefinitionRow, RunRecord
from orchestrator.store.objects import mark_of
from orchestrator.store.postgres_reading import PostgresReading
from orchestrator.store.sql import COLUMNS, RUN_TABLES
from orchestrator.store.times import to_micros


class PostgresUpkeep(PostgresReading):
    """See contract.Transaction."""

    def prune(self, before: datetime, limit: int) -> list[int]:
        runs = [run for (run,) in self._all("prunable_runs", to_micros(before), limit)]
        if runs:
            for table in RUN_TABLES:
                self.link.defer(f"prune_{table}", runs)
        return runs

    def note_objects_left(self, runs: Iterable[int]) -> None:
        if marks := [(mark_of(run), run) for run in sorted(runs)]:
            self.link.defer_many("mark", marks)

    def note_objects_gone(self, runs: Iterable[int]) -> None:
        if names := [(mark_of(run),) for run in sorted(runs)]:
            self.link.defer_many("unmark", names)

    def prune_definitions(self) -> list[str]:
        """Locked first, then looked at again: a run may just be beginning with one."""
        hashes = [hash for (hash,) in self._all("unused_definitions")]
        return [hash for (hash,) in self._all("delete_unused_definitions", hashes)] if hashes else []

    def import_run(self, run: int, record: RunRecord) -> None:
        for table in RUN_TABLES:
            rows = [(run, *(row[column] for column in COLUMNS[table])) for row in record[table]]
            if not rows:
                continue
            rows = self.bodies.seal_imported(table, rows)
            try:
                self.link.defer_many(f"import_{table}", rows)
                self.link.flush()
            except (psycopg.IntegrityError, psycopg.DataError) as error:
                raise ValueError(f"`{table}`: {str(error).splitlines()[0]}") from None

    def import_definition(self, row: DefinitionRow) -> None:
        self.link.defer("insert_definition", *row)
