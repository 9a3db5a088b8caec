"""Reads of one snapshot of a PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from orchestrator.store.contract import Statistics
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.sql_reading import OF_RUN, SqlReading

_FORESEEN = {*OF_RUN, "history_of"}
Question: TypeAlias = tuple[str, tuple[object, ...]]
"""A statement and its parameters."""


def of_many(runs: list[int], flow_ids: list[str]) -> list[Question]:
    """What loads these, and the latest runs of these."""
    return [(f"each_{name}", (runs, flow_ids)) for name in OF_RUN]


class PostgresReading(SqlReading):
    """See contract.Reading."""

    answers_together = True

    def __init__(self, link: Link, schema: str) -> None:
        self._link = link
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
        return self._link.all(name, *parameters)

    def preload(self, runs: Iterable[int], behind: Iterable[tuple[int, int]] = ()) -> None:
        questions: list[Question] = []
        if unknown := [run for run in runs if ("run_payload", (run,)) not in self._answered]:
            questions += of_many(unknown, [])
        if behind := list(behind):
            questions.append(("each_history_of", tuple(map(list, zip(*behind, strict=True)))))
        if questions:
            answers = self._link.together(questions)
            if behind:
                self._answered.update({("history_of", each): [] for each in behind})
                versions = dict(behind)
                for run, *row in answers.pop():
                    self._answered["history_of", (run, versions[run])].append(tuple(row))
            if unknown:
                self._note_loaded(set(unknown), answers)

    def _note_loaded(self, runs: set[int], answers: Sequence[Rows]) -> None:
        """Answers to `of_many`, of these runs."""
        runs = runs.intersection(run for run, *_ in answers[0])
        for name, rows in zip(OF_RUN, answers, strict=True):
            self._answered.update({(name, (run,)): [] for run in runs})
            for run, *row in rows:
                if run in runs:
                    self._answered[name, (run,)].append(tuple(row))

    def _expect(self, statements: Sequence[str], *parameters: object) -> None:
        self._ask([(name, parameters) for name in statements])

    def _ask(self, questions: Iterable[Question]) -> None:
        unanswered = [each for each in questions if each not in self._answered]
        if unanswered:
            answers = self._link.together(unanswered)
            self._answered.update(zip(unanswered, answers, strict=True))

    def _listed(self, values: Iterable[object]) -> object:
        return list(values)
