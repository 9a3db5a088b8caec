"""Reads of one snapshot of a PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from orchestrator.store.contract import Statistics
from orchestrator.store.postgres_link import Link, Rows
from orchestrator.store.sql_reading import OF_RUN, SqlReading


class PostgresReading(SqlReading):
    """See contract.Reading."""

    answers_together = True

    def __init__(self, link: Link, schema: str) -> None:
        self._link = link
        self._schema = schema
        self._answered: dict[tuple[str, tuple[object, ...]], Rows] = {}

    def statistics(self, now: datetime) -> Statistics:
        return self._statistics(now, used_bytes=self.used_bytes(), free_bytes=0)

    def used_bytes(self) -> int:
        return int(self._row("used_bytes", self._schema)[0])

    def identity(self) -> tuple[object, ...]:
        """What no other database has alike."""
        return self._row("identity", f"{self._schema}.runs")

    def _all(self, name: str, *parameters: object) -> list[tuple[Any, ...]]:
        if self._answered and name in OF_RUN:
            answered = self._answered.pop((name, parameters), None)
            if answered is not None:
                return answered
        return self._link.all(name, *parameters)

    def preload(self, runs: Iterable[int]) -> None:
        self._ask([(name, (run,)) for run in runs for name in OF_RUN])

    def _expect(self, statements: Sequence[str], *parameters: object) -> None:
        self._ask([(name, parameters) for name in statements])

    def _ask(self, questions: Iterable[tuple[str, tuple[object, ...]]]) -> None:
        unanswered = [each for each in questions if each not in self._answered]
        if unanswered:
            answers = self._link.together(unanswered)
            self._answered.update(zip(unanswered, answers, strict=True))

    def _listed(self, values: Iterable[object]) -> object:
        return list(values)
