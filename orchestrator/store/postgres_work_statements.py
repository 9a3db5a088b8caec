"""Statements about work as PostgreSQL runs them: claims that skip what others lock, queues, what is in force.

For postgres_statements.py.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Executable,
    bindparam,
    case,
    column,
    func,
    literal_column,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, BIGINT, TEXT, aggregate_order_by
from sqlalchemy.sql.elements import ColumnElement

from orchestrator.store.heads import HEAD
from orchestrator.store.tables import pauses, queues, runs, steps
from orchestrator.store.work_statements import (
    IS_IN_TURN,
    IS_LATER,
    IS_PAUSED,
    ONE,
    ZERO,
    busy,
    is_excluded,
    next_due_at,
    ready_queues,
)

b = bindparam
LOCKED = (*HEAD, runs.c.is_latest)
"""What is read of a run when it is locked."""


def is_any(column: ColumnElement[Any], name: str, kind: Any) -> ColumnElement[bool]:
    """`column` is an element of the array given as `name`."""
    return column == func.any(b(name, type_=ARRAY(kind)))


def is_one_of(column: ColumnElement[Any], others: ColumnElement[Any]) -> ColumnElement[bool]:
    """`column` is one of those, which stand in a CTE.

    Beside a join, so that `column` is looked up in its index even by a plan that was made when its table had
    a row or two, and joining was as cheap.
    """
    return column == func.any(func.array(select(others).scalar_subquery()))


_array = func.unnest(b("definitions", type_=ARRAY(TEXT))).table_valued(column("value", TEXT))
_IS_EXCLUDED = is_excluded(_array.render_derived(name="excluded").c.value)


def _claim(*conditions: ColumnElement[bool]) -> Executable:
    """What is due, nobody's, and of a run that nobody else is just writing."""
    due = _first(steps.c.due_at, b("due_limit"), IS_LATER, steps.c.due_at <= b("now"), *conditions)
    due = due.cte("due")
    left: Any = b("limit", type_=BIGINT) - select(func.count()).select_from(due).scalar_subquery()
    in_turn = _first(steps.c.turn, left, IS_IN_TURN, *conditions).cte("in_turn")
    either = union_all(select(due), select(in_turn)).subquery("either")
    first = select(either).limit(b("limit", type_=BIGINT)).cte("first")  # so few, the planner has to know
    return (
        update(steps)
        .where(*_is_of(first))
        .values(worker=b("claimer"), turn=null())
        .returning(steps.c.execution_id, steps.c.is_lost, *(first.c[each.name] for each in LOCKED))
    )


def _claim_timers() -> Executable:
    is_timer = steps.c.phase == literal_column("'waiting'")
    conditions = (IS_LATER, steps.c.due_at <= b("now"), is_timer, ~IS_PAUSED)
    first = _first(steps.c.due_at, b("limit"), *conditions).cte("first")
    return (
        update(steps)
        .where(*_is_of(first))
        .values(worker=b("claimer"))
        .returning(steps.c.execution_id, steps.c.is_lost, *(first.c[each.name] for each in LOCKED))
    )


def _is_of(first: Any) -> tuple[ColumnElement[bool], ...]:
    return (
        is_one_of(steps.c.run, first.c.run),
        steps.c.run == first.c.run,
        steps.c.execution_id == first.c.execution_id,
    )


def _first(order: ColumnElement[Any], limit: Any, *conditions: ColumnElement[bool]) -> Any:
    of_run = runs.alias("of_run")
    return (
        select(steps.c.execution_id, *(of_run.c[each.name] for each in LOCKED))
        .join(of_run, of_run.c.run == steps.c.run)
        .where(steps.c.queue == b("of_queue"), *conditions)
        .order_by(order)
        .limit(limit)
        .with_for_update(skip_locked=True, of=(steps, of_run))
    )


_queue_numbers = b("queues", type_=ARRAY(BIGINT))
_listed_queues = (
    func.unnest(_queue_numbers).table_valued(column("value", BIGINT)).render_derived(name="listed")
)
_held = (
    select(queues.c.queue)
    .where(is_any(queues.c.queue, "queues", BIGINT))
    .with_for_update(read=True, key_share=True)
    .cte("held")
)
_held_count: Any = select(func.count()).select_from(_held).scalar_subquery()

_orders = (
    select(pauses.c.flow.label("name"), pauses.c.step.label("text"), null().cast(BIGINT).label("number"))
    .union_all(select(queues.c.name, queues.c.settings, queues.c.queue))
    .subquery("orders")
)
_WITHIN: ColumnElement[str] = literal_column("chr(31)")
_BETWEEN: ColumnElement[str] = literal_column("chr(30)")
_order = func.concat(_orders.c.name, _WITHIN, _orders.c.text, _WITHIN, _orders.c.number)
ORDERS: Any = select(
    func.string_agg(_order, aggregate_order_by(_BETWEEN, _orders.c.name, _orders.c.text, _orders.c.number))
).scalar_subquery()

WORK: dict[str, Executable] = {
    "claim": _claim(),
    "claim_except": _claim(~_IS_EXCLUDED, ~IS_PAUSED),
    "claim_timers": _claim_timers(),
    "orders": select(ORDERS),
    "ready_queues": ready_queues(_listed_queues.c.value),
    "demand_queues": select(
        ONE.op("/")(case((_held_count == func.cardinality(_queue_numbers), ONE), else_=ZERO))
    ),
    "spent_of_queues": select(queues.c.queue, queues.c.spent_until).where(
        is_any(queues.c.queue, "queues", BIGINT)
    ),
    "hold_queues": select(queues.c.queue, queues.c.spent_until)
    .where(is_any(queues.c.queue, "queues", BIGINT))
    .order_by(queues.c.queue)
    .with_for_update(skip_locked=True, key_share=True),
    "leased_counts": select(steps.c.queue, func.count())
    .where(steps.c.worker.is_not(None), steps.c.queue > ZERO, is_any(steps.c.queue, "queues", BIGINT))
    .group_by(steps.c.queue),
    "next_due_at_except": next_due_at(~_IS_EXCLUDED, ~IS_PAUSED),
    "busy": busy(~_IS_EXCLUDED),
}
