"""Statements about work: claiming what is due, what is due next, queues. For statements.py.

Conditions and questions that are the same on PostgreSQL are for both.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Executable,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from orchestrator.store.tables import pauses, queues, runs, steps

b = bindparam
ZERO: ColumnElement[int] = literal_column("0")
ONE: ColumnElement[int] = literal_column("1")
OF_EXECUTION = and_(steps.c.run == b("of_run"), steps.c.execution_id == b("of_execution"))


def in_json(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """`column` is an element of the JSON array given as `name`."""
    return column.in_(select(func.json_each(b(name)).table_valued("value").c.value))


def _first_of(*conditions: ColumnElement[bool]) -> Any:
    """Null when there is none. For `exists`, PostgreSQL may read all rows of both tables before the first."""
    return (
        select(ONE)
        .where(*conditions)
        .correlate_except(runs, pauses)
        .limit(ONE)
        .offset(ZERO)
        .scalar_subquery()
    )


IS_LATER = and_(steps.c.worker.is_(None), steps.c.turn.is_(None), steps.c.due_at.is_not(None))
"""Work that becomes due, or has become due since it was written."""
IS_IN_TURN = and_(steps.c.worker.is_(None), steps.c.turn.is_not(None))
"""Work that was ready when it was written."""
IN_QUEUE = steps.c.queue == b("of_queue")


def _claim(order: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Any:
    """The first that are nobody's become `claimer`'s."""
    first: Any = (
        select(literal_column("steps.rowid"))
        .where(IN_QUEUE, *conditions)
        .order_by(order)
        .limit(b("limit"))
        .offset(ZERO)
    )
    return (
        update(steps)
        .where(literal_column("rowid").in_(first))
        .values(worker=b("claimer"), turn=null())
        .returning(steps.c.run, steps.c.execution_id, steps.c.is_lost)
    )


def _claim_due(*conditions: ColumnElement[bool]) -> Any:
    return _claim(steps.c.due_at, IS_LATER, steps.c.due_at <= b("now"), *conditions)


def _claim_in_turn(*conditions: ColumnElement[bool]) -> Any:
    return _claim(steps.c.turn, IS_IN_TURN, *conditions)


def next_due_at(*conditions: ColumnElement[bool]) -> Any:
    """Of one queue: of what becomes due, and of what is ready the first in turn."""
    later = select(func.min(steps.c.due_at).label("due_at")).where(IN_QUEUE, IS_LATER, *conditions)
    first: Any = (
        select(steps.c.due_at)
        .where(IN_QUEUE, IS_IN_TURN, *conditions)
        .order_by(steps.c.turn)
        .limit(ONE)
        .offset(ZERO)
        .subquery("first")
    )
    either = union_all(later, select(first.c.due_at)).subquery("either")
    return select(func.min(either.c.due_at))


def ready_queues(queue: ColumnElement[Any]) -> Any:
    """`queue`: the column that lists them."""
    first = select(ONE).where(steps.c.queue == queue).limit(ONE).offset(ZERO)
    in_turn = first.where(IS_IN_TURN).order_by(steps.c.turn).scalar_subquery()
    due = first.where(IS_LATER, steps.c.due_at <= b("now")).order_by(steps.c.due_at).scalar_subquery()
    return select(queue).where(or_(in_turn.is_not(None), due.is_not(None)))


def _oldest_due_at() -> Any:
    """Of all queues, by a look at the first of each."""
    known = union_all(select(ZERO.label("queue")), select(queues.c.queue)).subquery("known")
    of_known = steps.c.queue == known.c.queue
    later = select(func.min(steps.c.due_at)).where(of_known, IS_LATER).scalar_subquery()
    in_turn = (
        select(steps.c.due_at).where(of_known, IS_IN_TURN).order_by(steps.c.turn).limit(ONE).offset(ZERO)
    )
    either = union_all(
        select(later.label("due_at")).select_from(known),
        select(in_turn.scalar_subquery().label("due_at")).select_from(known),
    ).subquery("either")
    return select(func.min(either.c.due_at))


def is_excluded(excluded: ColumnElement[str]) -> ColumnElement[bool]:
    """`excluded`: the column that lists definitions and steps of them."""
    step = runs.c.definition.concat(literal_column("'/'")).concat(steps.c.step)
    is_listed = or_(excluded == runs.c.definition, excluded == step)
    found: ColumnElement[bool] = _first_of(runs.c.run == steps.c.run, is_listed).is_not(None)
    return found


IS_PAUSED: ColumnElement[bool] = _first_of(
    runs.c.run == steps.c.run,
    pauses.c.flow == runs.c.flow,
    or_(pauses.c.step == literal_column("''"), pauses.c.step == steps.c.step),
).is_not(None)
_IS_EXCLUDED = is_excluded(func.json_each(b("definitions")).table_valued("value").c.value)


def busy(*conditions: ColumnElement[bool]) -> Any:
    """Is there anything leased, due by `until`, or backing off?"""
    is_backing_off = and_(steps.c.attempt > ONE, steps.c.phase != literal_column("'waiting'"))
    is_coming = and_(~IS_PAUSED, or_(steps.c.due_at <= b("until"), is_backing_off))
    return select(
        exists().where(*conditions, steps.c.due_at.is_not(None), or_(steps.c.worker.is_not(None), is_coming))
    )


WORK: dict[str, Executable] = {
    "claim_due": _claim_due(),
    "claim_due_except": _claim_due(~_IS_EXCLUDED, ~IS_PAUSED),
    "claim_timers": _claim_due(steps.c.phase == literal_column("'waiting'"), ~IS_PAUSED),
    "claim_in_turn": _claim_in_turn(),
    "claim_in_turn_except": _claim_in_turn(~_IS_EXCLUDED, ~IS_PAUSED),
    "next_due_at": next_due_at(),
    "next_due_at_except": next_due_at(~_IS_EXCLUDED, ~IS_PAUSED),
    "next_timer_at": select(func.min(steps.c.due_at)).where(
        IN_QUEUE, IS_LATER, steps.c.phase == literal_column("'waiting'"), ~IS_PAUSED
    ),
    "oldest_due_at": _oldest_due_at(),
    "next_turn": select(func.coalesce(func.min(steps.c.turn) + ONE, ZERO)).where(IN_QUEUE, IS_IN_TURN),
    "busy": busy(~_IS_EXCLUDED),
    "busy_in_queue": busy(IN_QUEUE),
    # Queues.
    "all_queues": select(queues.c.queue, queues.c.name, queues.c.settings).order_by(queues.c.queue),
    "insert_queue": insert(queues).values(name=b("name"), settings=b("settings"), spent_until=ZERO),
    "set_queue": update(queues).where(queues.c.queue == b("the_queue")).values(settings=b("settings")),
    "delete_queue": delete(queues).where(queues.c.queue == b("the_queue")),
    "ready_queues": ready_queues(func.json_each(b("queues")).table_valued("value").c.value),
    "spent_of_queues": select(queues.c.queue, queues.c.spent_until).where(
        in_json(queues.c.queue, "queues"),
    ),
    "spend": update(queues).where(queues.c.queue == b("the_queue")).values(spent_until=b("spent_until")),
    "leased_counts": select(steps.c.queue, func.count())
    .where(steps.c.worker.is_not(None), steps.c.queue > ZERO, in_json(steps.c.queue, "queues"))
    .group_by(steps.c.queue),
    "calls": select(steps.c.run, steps.c.execution_id, runs.c.flow, steps.c.step, steps.c.queue)
    .join(runs, runs.c.run == steps.c.run)
    .where(steps.c.phase != literal_column("'waiting'"))
    .order_by(steps.c.run),
    "set_step_queue": update(steps).where(OF_EXECUTION).values(queue=b("queue"), turn=null()),
}
