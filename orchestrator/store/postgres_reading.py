"""Reads of one snapshot of a PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from orchestrator.store.loading import TABLE_COUNT
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.sql_reading import SqlReading
from orchestrator.store.statistics import Statistics

_FORESEEN = {"rows_of_run", "rounds_of", "reports_of", "history_of"}
Question: TypeAlias = tuple[str, tuple[object, ...]]
"""A statement and its parameters."""


def of_many(runs: list[int], flow_ids: list[str]) -> Question:
    """What loads these, and the latest runs of these."""
    return "each_rows_of_run", (runs, flow_ids)


class PostgresReading(SqlReading):
    """See contract.Reading."""

    answers_together = True

    def __init__(self, link: Link, schema: str) -> None:
        self.link = link
        self._schema = schema
        self._answered: dict[Question, Rows] = {}

    def statistics(self, now: datetime) -> Statistics:
        return self._statistics(now, used_bytes=self.used_bytes(), free_bytes=0)

    def used_bytes(self) -> int:
        return int(self._row("used_bytes", self._schema)[0])

    def identity(self) -> tuple[object, ...]:
        """What no other database has alike."""
        return self._row("identity", f"{self._schema}.runs")

    def _all(self, name: str, *parameters: object) -> list[tuple[Any, ...]]:
        if self._answered and name in _FORESEEN:
            answered = self._answered.pop((name, parameters), None)
            if answered is not None:
                return answered
        return self.link.all(name, *parameters)

    def preload(self, runs: Iterable[int], behind: Iterable[tuple[int, int]] = ()) -> None:
        questions: list[Question] = []
        if unknown := [run for run in runs if _rows_of(run) not in self._answered]:
            questions.append(of_many(unknown, []))
        if behind := list(behind):
            questions.append(("each_history_of", tuple(map(list, zip(*behind, strict=True)))))
        if questions:
            answers = self.link.together(questions)
            if behind:
                self._answered.update({("history_of", each): [] for each in behind})
                versions = dict(behind)
                for run, *row in answers.pop():
                    self._answered["history_of", (run, versions[run])].append(tuple(row))
            if unknown:
                self._note_loaded(set(unknown), answers[0])

    def _note_loaded(self, runs: set[int], rows: Rows) -> None:
        """The answer to `of_many`, of these runs."""
        loaded: dict[int, Rows] = {}
        for row in rows:
            if row[0] in runs:
                loaded.setdefault(row[0], []).append(row[1:])
        self._answered.update({_rows_of(run): of_run for run, of_run in loaded.items()})

    def _expect(self, statements: Sequence[str], *parameters: object) -> None:
        self._ask([(name, parameters) for name in statements])

    def _ask(self, questions: Iterable[Question]) -> None:
        unanswered = [each for each in questions if each not in self._answered]
        if unanswered:
            answers = self.link.together(unanswered)
            self._answered.update(zip(unanswered, answers, strict=True))

    def _listed(self, values: Iterable[object]) -> object:
        return list(values)


def _rows_of(run: int) -> Question:
    return "rows_of_run", (run,) * TABLE_COUNT
