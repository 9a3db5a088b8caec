"""The rows that one transaction writes, by statement."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal, TypeAlias, get_args

Rows: TypeAlias = list[tuple[Any, ...]]
Statement: TypeAlias = Literal[
    "insert_run",
    "update_run",
    "close_run",
    "set_definition",
    "delete_steps",
    "delete_step",
    "update_step",
    "update_queued_step",
    "insert_step",
    "insert_queued_step",
    "clear_messages",
    "delete_message",
    "insert_message",
    "clear_attributes",
    "clear_attribute",
    "delete_attribute",
    "set_attribute",
    "delete_outputs",
    "insert_output",
    "delete_rounds",
    "delete_round",
    "update_round",
    "insert_round",
    "delete_all_reports",
    "delete_reports",
    "insert_report",
    "insert_projection",
    "insert_history",
]
ORDER: tuple[Statement, ...] = get_args(Statement)
"""In which the statements of one transaction are to run."""
_PLACES = {name: place for place, name in enumerate(ORDER)}


class Writes(defaultdict[Statement, Rows]):
    """Parameters by statement (statements.py). Most transactions need four of them."""

    def __init__(self) -> None:
        super().__init__(list)

    def in_order(self) -> list[tuple[str, Rows]]:
        return [(name, self[name]) for name in sorted(self, key=_PLACES.__getitem__) if self[name]]


GUARDED = ("update_run", "close_run")
"""Statements of which each must find its row."""
WORKER_AT = {"insert_step": 6, "insert_queued_step": 6, "update_step": 3, "update_queued_step": 3}
"""Statements whose rows have the worker that leases them at this place."""
QUEUED = {"insert_queued_step": 8, "update_queued_step": 5}
"""Statements whose rows have a queue at this place and a rank after it.

The database makes a turn of the rank: the next round of the queue, and as many later.
"""
