"""Reads that are the same in every SQL database: from the rows of a statement to what the engine knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import repeat, starmap

import msgspec

from orchestrator.core.codec import kind_of
from orchestrator.core.evolve import rebuild_indexes
from orchestrator.core.pauses import Pauses
from orchestrator.core.state import BranchReport, Round, Run, Status
from orchestrator.store.bodies import PLAIN, Bodies
from orchestrator.store.contract import (
    DefinitionRow,
    Head,
    HistoryRow,
    RunRecord,
    StoredDefinition,
    StoredRun,
    WorkerRow,
)
from orchestrator.store.loading import IN_ORDER, IN_TABLE, ROUND, TABLE_COUNT, Row, build_run
from orchestrator.store.queues import Queues, queues_of
from orchestrator.store.sought import ANY_RUN, LAST, Sought
from orchestrator.store.sql import COLUMNS, RUN_TABLES
from orchestrator.store.statistics import Statistics
from orchestrator.store.times import from_micros, to_micros

_decode_json = msgspec.json.Decoder().decode
_FIRST_PAGE, _PAGE = 100, 1000


class SqlReading:
    """See contract.Reading. A database says how its statements are run."""

    bodies: Bodies = PLAIN
    answers_together = False

    def preload(self, runs: Iterable[int], behind: Iterable[tuple[int, int]] = ()) -> None:
        """Nothing, where a question costs no more than a call."""

    def _all(self, name: str, *parameters: object) -> list[Row]:
        """All rows of a statement (statements.py)."""
        raise NotImplementedError

    def _listed(self, values: Iterable[object]) -> object:
        """A parameter that is a list."""
        raise NotImplementedError

    def _expect(self, statements: Sequence[str], *parameters: object) -> None:
        """These are about to be run with these parameters: a database far away answers all at once."""

    def _opened(self, name: str, *parameters: object) -> list[Row]:
        """The same, of a statement that reads bodies."""
        return self.bodies.open_rows(name, self._all(name, *parameters))

    def find_latest(self, flow_id: str) -> Head | None:
        row = self._one("find_latest", flow_id)
        return Head(*row) if row else None

    def find_run(self, run: int) -> Head | None:
        row = self._one("find_run", run)
        return Head(*row) if row else None

    def running_among(self, runs: Iterable[int]) -> set[int]:
        return {run for (run,) in self._all("running_among", self._listed(runs))}

    def load(self, head: Head) -> StoredRun:
        rows = self._rows_of_run(head.run)
        rows.sort(key=IN_ORDER)
        run, leases = build_run(head, self.bodies.open_rows("rows_of_run", rows))
        if ROUND in map(IN_TABLE, rows):
            self._load_rounds(run, head.run)
        rebuild_indexes(run)
        return StoredRun(head, run, leases)

    def _rows_of_run(self, run: int) -> list[Row]:
        return self._all("rows_of_run", *repeat(run, TABLE_COUNT))

    def _load_rounds(self, run: Run, number: int) -> None:
        self._expect(("rounds_of", "reports_of"), number)
        rounds, reports = self._all("rounds_of", number), self._all("reports_of", number)
        for name, join, branch_count, counting, missed, members, is_cancelled in rounds:
            run.rounds[name] = Round(join, branch_count, counting, missed, members, bool(is_cancelled))
        for name, branch, value in self.bodies.open_rows("reports_of", reports):
            run.rounds[name].reports.append(BranchReport(branch, _decode_json(value)))

    def history(self, run: int, after_version: int = 0) -> list[HistoryRow]:
        rows = self._opened("history_of", run, after_version)
        return [HistoryRow(version, at, kind_of(kind), *rest) for version, at, kind, *rest in rows]

    def heads(self, sought: Sought = ANY_RUN) -> Iterator[Head]:
        if sought.is_vain:
            return iter(())
        if sought.flow_id is not None:
            found = self.find_latest(sought.flow_id)
            pages: Iterator[Head] = iter(() if found is None else (found,))
        elif sought.status is not None and (sought.flow is None or sought.status == Status.RUNNING):
            pages = self._pages("heads_of_status", sought, sought.status)
        elif sought.flow is not None:
            pages = self._pages("heads_of_flow", sought, sought.flow)
        else:
            pages = self._pages("heads", sought)
        return filter(sought.fits, pages)

    def _pages(self, name: str, sought: Sought, *parameters: object) -> Iterator[Head]:
        behind, size = (sought.started_until, LAST), _FIRST_PAGE
        fixed = (sought.started_from, sought.value, sought.value)
        while rows := self._all(name, *parameters, *behind, *fixed, size):
            for row in rows:
                head = Head(*row)
                yield head
            if len(rows) < size:
                return
            behind, size = (head.started_at, head.run), _PAGE

    def attribute_values(self, runs: Iterable[int]) -> list[tuple[int, str, bool, bytes]]:
        rows = self._all("attribute_values", self._listed(runs))
        return [(run, name, bool(is_map), value) for run, name, is_map, value in rows]

    def active_steps(self, runs: Iterable[int]) -> list[tuple[int, str]]:
        return [(run, step) for run, step in self._all("active_steps", self._listed(runs))]

    def live_heads(self, definition: str, after_run: int, limit: int) -> list[Head]:
        return [Head(*row) for row in self._all("live_of_definition", definition, after_run, limit)]

    def definition_names(self) -> list[tuple[str, str]]:
        return [(flow, hash) for flow, hash in self._all("definition_names")]

    def definition(self, hash: str) -> StoredDefinition | None:
        row = self._one("definition", hash)
        return StoredDefinition(*row) if row else None

    def is_busy(self, until: datetime, excluded: Sequence[str] = (), queue: int | None = None) -> bool:
        if queue is not None:
            return bool(self._row("busy_in_queue", queue, to_micros(until))[0])
        return bool(self._row("busy", self._listed(excluded), to_micros(until))[0])

    def find_pauses(self) -> Pauses:
        return pauses_of(self._all("all_pauses"))

    def find_queues(self) -> Queues:
        return queues_of(self._all("all_queues"))

    def leased_counts(self, queues: Iterable[int]) -> dict[int, int]:
        return dict(self._all("leased_counts", self._listed(queues)))

    def spent_until(self, queues: Iterable[int]) -> dict[int, int]:
        return dict(self._all("spent_of_queues", self._listed(queues)))

    def is_projecting(self, run: int | None = None) -> bool:
        row = self._row("has_projections") if run is None else self._row("has_projections_of", run)
        return bool(row[0])

    # --- Upkeep ---

    def run_counts(self) -> dict[str, int]:
        return dict(self._all("run_counts"))

    def oldest_due_at(self) -> datetime | None:
        (micros,) = self._row("oldest_due_at")
        return from_micros(micros) if micros is not None else None

    def work_counts(self, now: datetime) -> dict[int, tuple[int, int]]:
        rows = self._all("work_counts", to_micros(now))
        return {queue: (leased_count, due_count) for queue, leased_count, due_count in rows}

    def workers(self) -> list[WorkerRow]:
        return list(starmap(WorkerRow, self._all("all_workers")))

    def count_prunable(self, before: datetime) -> int:
        count: int = self._row("prunable_count", to_micros(before))[0]
        return count

    def runs_with_objects_left(self) -> list[int]:
        return [run for (run,) in self._all("runs_with_objects_left")]

    def run_numbers(self, flow_id: str | None = None) -> list[int]:
        rows = self._all("all_runs") if flow_id is None else self._all("runs_of", flow_id)
        return [run for (run,) in rows]

    def export_run(self, run: int) -> RunRecord:
        record: RunRecord = {}
        for table in RUN_TABLES:
            rows = self._opened(f"export_{table}", run)
            record[table] = [dict(zip(COLUMNS[table], row, strict=True)) for row in rows]
        return record

    def export_definitions(self) -> Iterator[DefinitionRow]:
        for row in self._all("all_definitions"):
            yield DefinitionRow(*row)

    def _one(self, name: str, *parameters: object) -> Row | None:
        rows = self._all(name, *parameters)
        return rows[0] if rows else None

    def _row(self, name: str, *parameters: object) -> Row:
        (row,) = self._all(name, *parameters)
        return row

    def _statistics(self, now: datetime, *, used_bytes: int, free_bytes: int) -> Statistics:
        oldest_running, oldest_closed = self._row("oldest_runs")
        counts = list(self.work_counts(now).values())
        return Statistics(
            schema_version=self._row("installed_version")[0],
            used_bytes=used_bytes,
            free_bytes=free_bytes,
            run_counts=self.run_counts(),
            row_counts=dict(self._all("row_counts")),
            oldest_running_at=from_micros(oldest_running) if oldest_running is not None else None,
            oldest_closed_at=from_micros(oldest_closed) if oldest_closed is not None else None,
            leased_count=sum(leased_count for leased_count, _ in counts),
            due_count=sum(due_count for _, due_count in counts),
        )


def pauses_of(rows: Iterable[tuple[str, str]]) -> Pauses:
    return Pauses(frozenset((flow, step or None) for flow, step in rows))
