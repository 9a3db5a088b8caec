"""Statements that list runs and look into many of them, for every database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Executable, bindparam, exists, func, literal_column, or_, select, tuple_
from sqlalchemy.sql.elements import ColumnElement

from orchestrator.store.tables import attributes, runs, steps

HEAD = (
    runs.c.run,
    runs.c.flow_id,
    runs.c.run_id,
    runs.c.flow,
    runs.c.definition,
    runs.c.request_id,
    runs.c.status,
    runs.c.version,
    runs.c.attempt,
    runs.c.started_at,
    runs.c.closed_at,
)
_ONE: ColumnElement[int] = literal_column("1")


def list_statements(
    is_one_of: Callable[[ColumnElement[Any], str], ColumnElement[bool]],
    value: ColumnElement[Any],
    sealed: str,
) -> dict[str, Executable]:
    """`is_one_of`: a column is an element of the list that is a parameter.

    `value`: a parameter, the value that one of a run's attributes has to have, if not null; `sealed`: what
    bodies begin with that may be anything.
    """

    def page(*conditions: ColumnElement[bool]) -> Executable:
        """Of the latest runs, newest first, from behind a run on."""
        before = tuple_(bindparam("before_time"), bindparam("before_run"))
        has_value = exists().where(
            attributes.c.run == runs.c.run,
            or_(
                attributes.c.value == value,
                func.substr(attributes.c.value, _ONE, _ONE) == literal_column(sealed),
            ),
        )
        latest = select(*HEAD).where(
            *conditions,
            runs.c.is_latest == _ONE,
            tuple_(runs.c.started_at, runs.c.run) < before,
            runs.c.started_at >= bindparam("since"),
            or_(value.is_(None), has_value),
        )
        newest_first = latest.order_by(runs.c.started_at.desc(), runs.c.run.desc())
        return newest_first.limit(bindparam("limit")).offset(literal_column("0"))

    return {
        "heads": page(),
        "heads_of_flow": page(runs.c.flow == bindparam("of_flow")),
        "heads_of_status": page(runs.c.status == bindparam("of_status")),
        "attribute_values": select(
            attributes.c.run, attributes.c.name, attributes.c.is_map, attributes.c.value
        )
        .where(is_one_of(attributes.c.run, "runs"))
        .order_by(attributes.c.run, literal_column("rowid")),
        "running_among": select(runs.c.run).where(is_one_of(runs.c.run, "runs"), runs.c.closed_at.is_(None)),
        "active_steps": select(steps.c.run, steps.c.step).where(is_one_of(steps.c.run, "runs")).distinct(),
    }
