"""The rows that one transaction writes, by statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

Rows: TypeAlias = list[tuple[Any, ...]]


class _Asked:
    __slots__ = ("_asked",)
    _asked: list[str]


class Writes(_Asked):
    """Parameters by statement name (statements.py), in the order in which they are to run.

    A list is made when it is first asked for: most transactions need four of them.
    """

    insert_run: Rows
    update_run: Rows
    close_run: Rows
    set_definition: Rows
    delete_steps: Rows
    delete_step: Rows
    update_step: Rows
    update_queued_step: Rows
    insert_step: Rows
    insert_queued_step: Rows
    clear_messages: Rows
    delete_message: Rows
    insert_message: Rows
    clear_attributes: Rows
    clear_attribute: Rows
    delete_attribute: Rows
    set_attribute: Rows
    delete_outputs: Rows
    insert_output: Rows
    delete_rounds: Rows
    delete_round: Rows
    update_round: Rows
    insert_round: Rows
    delete_all_reports: Rows
    delete_reports: Rows
    insert_report: Rows
    insert_projection: Rows
    insert_history: Rows

    __slots__ = tuple(__annotations__)

    def __init__(self, insert_history: Rows | None = None) -> None:
        self._asked = []
        if insert_history is not None:
            self.insert_history = insert_history
            self._asked.append("insert_history")

    def __getattr__(self, name: str) -> Rows:
        if name not in _PLACES:
            raise AttributeError(name)
        rows: Rows = []
        setattr(self, name, rows)
        self._asked.append(name)
        return rows

    def __iter__(self) -> Iterator[tuple[str, Rows]]:
        """What there is, in order."""
        for name in sorted(self._asked, key=_PLACES.__getitem__):
            if rows := getattr(self, name):
                yield name, rows


_PLACES = {name: place for place, name in enumerate(Writes.__slots__)}
GUARDED = ("update_run", "close_run")
"""Statements of which each must find its row."""
WORKER_AT = {"insert_step": 6, "insert_queued_step": 6, "update_step": 3, "update_queued_step": 3}
"""Statements whose rows have the worker that leases them at this place."""
QUEUED = {"insert_queued_step": 8, "update_queued_step": 5}
"""Statements whose rows have a queue at this place and a rank after it.

The database makes a turn of the rank: the next round of the queue, and as many later.
"""
