"""Every statement, in SQLAlchemy Core; written out as `sqlite.sql`, which the driver runs.

Executing through SQLAlchemy costs as much as SQLite itself, and importing it is most of a short command's
time. So Core defines and the driver executes: `python -m orchestrator.store.statements` writes the file
again, a test compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import (
    Executable,
    and_,
    bindparam,
    case,
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
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql.elements import ColumnElement

from orchestrator.store.heads import HEAD, list_statements
from orchestrator.store.tables import (
    METADATA,
    attributes,
    definitions,
    history,
    marks,
    messages,
    outputs,
    pauses,
    projections,
    queues,
    reports,
    rounds,
    runs,
    schema_version,
    steps,
    workers,
)

b = bindparam
ZERO: ColumnElement[int] = literal_column("0")
ONE: ColumnElement[int] = literal_column("1")


def _in_json(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """`column` is an element of the JSON array given as `name`."""
    return column.in_(select(func.json_each(b(name)).table_valued("value").c.value))


IS_LATER = and_(steps.c.worker.is_(None), steps.c.turn.is_(None), steps.c.due_at.is_not(None))
"""Work that becomes due, or has become due since it was written."""
IS_IN_TURN = and_(steps.c.worker.is_(None), steps.c.turn.is_not(None))
"""Work that was ready when it was written."""
_IN_QUEUE = steps.c.queue == b("of_queue")


def _claim(order: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Any:
    """The first that are nobody's become `claimer`'s."""
    first: Any = (
        select(literal_column("steps.rowid"))
        .where(_IN_QUEUE, *conditions)
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
    later = select(func.min(steps.c.due_at).label("due_at")).where(_IN_QUEUE, IS_LATER, *conditions)
    first: Any = (
        select(steps.c.due_at)
        .where(_IN_QUEUE, IS_IN_TURN, *conditions)
        .order_by(steps.c.turn)
        .limit(ONE)
        .offset(ZERO)
        .subquery("first")
    )
    either = union_all(later, select(first.c.due_at)).subquery("either")
    return select(func.min(either.c.due_at))


def ready_queues(queue: ColumnElement[Any]) -> Any:
    """`queue`: the column that lists them."""
    of_queue = steps.c.queue == queue
    in_turn = exists().where(of_queue, IS_IN_TURN)
    due = exists().where(of_queue, IS_LATER, steps.c.due_at <= b("now"))
    return select(queue).where(or_(in_turn, due))


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


_excluded = func.json_each(b("definitions")).table_valued("value").c.value
_IS_EXCLUDED = exists().where(
    runs.c.run == steps.c.run,
    or_(
        _excluded == runs.c.definition,
        _excluded == runs.c.definition.concat(literal_column("'/'")).concat(steps.c.step),
    ),
)
_IS_PAUSED = exists().where(
    runs.c.run == steps.c.run,
    pauses.c.flow == runs.c.flow,
    or_(pauses.c.step == literal_column("''"), pauses.c.step == steps.c.step),
)
_OF_EXECUTION = and_(steps.c.run == b("of_run"), steps.c.execution_id == b("of_execution"))
_set_attribute = sqlite_insert(attributes)
_set_definition = sqlite_insert(definitions)
_oldest_projections = (
    select(projections.c.seq)
    .where(~exists().where(projections.c.worker != b("claimer")))
    .order_by(projections.c.seq)
    .limit(b("limit"))
    .offset(ZERO)
    .correlate(None)
)
_mark = sqlite_insert(marks).values(name=b("name"), value=b("value"))
_successor = definitions.alias("successor")
IS_UNUSED = and_(
    exists().where(_successor.c.flow == definitions.c.flow, _successor.c.stored_at > definitions.c.stored_at),
    ~exists().where(runs.c.flow == definitions.c.flow, runs.c.definition == definitions.c.hash),
    definitions.c.hash.not_in(select(projections.c.definition)),
)
"""Of a definition, seldom: all runs of its flow may have to be looked at, oldest first."""

STATEMENTS: dict[str, Executable] = {
    # One commit: the run first (its guard orders everything else), history last.
    "insert_run": insert(runs),
    "update_run": update(runs)
    .where(runs.c.run == b("of_run"), runs.c.version == b("from_version"))
    .values(version=b("version"), state=b("state")),
    "close_run": update(runs)
    .where(runs.c.run == b("of_run"), runs.c.version == b("from_version"))
    .values(
        version=b("version"),
        state=b("state"),
        status=b("status"),
        attempt=b("attempt"),
        closed_at=b("closed_at"),
        error=b("error"),
    ),
    "set_definition": update(runs).where(runs.c.run == b("of_run")).values(definition=b("definition")),
    "supersede_run": update(runs).where(runs.c.run == b("of_run")).values(is_latest=ZERO),
    "insert_step": insert(steps).values(
        run=b("run"),
        execution_id=b("execution_id"),
        step=b("step"),
        phase=b("phase"),
        attempt=b("attempt"),
        due_at=b("due_at"),
        worker=b("worker"),
        is_lost=ZERO,
        body=b("body"),
    ),
    "update_step": update(steps)
    .where(_OF_EXECUTION)
    .values(
        phase=b("phase"),
        attempt=b("attempt"),
        due_at=b("due_at"),
        worker=b("worker"),
        is_lost=ZERO,
        body=b("body"),
        queue=ZERO,
        turn=null(),
    ),
    "insert_queued_step": insert(steps).values(
        run=b("run"),
        execution_id=b("execution_id"),
        step=b("step"),
        phase=b("phase"),
        attempt=b("attempt"),
        due_at=b("due_at"),
        worker=b("worker"),
        is_lost=ZERO,
        body=b("body"),
        queue=b("queue"),
        turn=b("turn"),
    ),
    "update_queued_step": update(steps)
    .where(_OF_EXECUTION)
    .values(
        phase=b("phase"),
        attempt=b("attempt"),
        due_at=b("due_at"),
        worker=b("worker"),
        is_lost=ZERO,
        body=b("body"),
        queue=b("queue"),
        turn=b("turn"),
    ),
    "delete_step": delete(steps).where(_OF_EXECUTION),
    "delete_steps": delete(steps).where(steps.c.run == b("of_run")),
    "insert_message": insert(messages),
    "clear_messages": delete(messages).where(messages.c.run == b("of_run")),
    "delete_message": delete(messages).where(messages.c.run == b("of_run"), messages.c.seq == b("of_seq")),
    "set_attribute": _set_attribute.on_conflict_do_update(
        index_elements=[attributes.c.run, attributes.c.name, attributes.c.key],
        set_={"value": _set_attribute.excluded.value},
    ),
    "clear_attributes": delete(attributes).where(attributes.c.run == b("of_run")),
    "clear_attribute": delete(attributes).where(
        attributes.c.run == b("of_run"), attributes.c.name == b("of_name")
    ),
    "delete_attribute": delete(attributes).where(
        attributes.c.run == b("of_run"), attributes.c.name == b("of_name"), attributes.c.key == b("of_key")
    ),
    "insert_output": insert(outputs),
    "delete_outputs": delete(outputs).where(outputs.c.run == b("of_run")),
    "insert_round": insert(rounds),
    "update_round": update(rounds)
    .where(rounds.c.run == b("of_run"), rounds.c.round == b("of_round"))
    .values(counting=b("counting"), missed=b("missed"), members=b("members"), is_cancelled=b("is_cancelled")),
    "delete_round": delete(rounds).where(rounds.c.run == b("of_run"), rounds.c.round == b("of_round")),
    "delete_rounds": delete(rounds).where(rounds.c.run == b("of_run")),
    "insert_report": insert(reports),
    "delete_reports": delete(reports).where(reports.c.run == b("of_run"), reports.c.round == b("of_round")),
    "delete_all_reports": delete(reports).where(reports.c.run == b("of_run")),
    "insert_projection": insert(projections).values(
        sender=b("sender"), flow_id=b("flow_id"), definition=b("definition"), body=b("body")
    ),
    "insert_history": insert(history),
    # Work and leases.
    "claim_due": _claim_due(),
    "claim_due_except": _claim_due(~_IS_EXCLUDED, ~_IS_PAUSED),
    "claim_timers": _claim_due(steps.c.phase == literal_column("'waiting'"), ~_IS_PAUSED),
    "claim_in_turn": _claim_in_turn(),
    "claim_in_turn_except": _claim_in_turn(~_IS_EXCLUDED, ~_IS_PAUSED),
    "next_due_at": next_due_at(),
    "next_due_at_except": next_due_at(~_IS_EXCLUDED, ~_IS_PAUSED),
    "next_timer_at": select(func.min(steps.c.due_at)).where(
        _IN_QUEUE, IS_LATER, steps.c.phase == literal_column("'waiting'"), ~_IS_PAUSED
    ),
    "oldest_due_at": _oldest_due_at(),
    "next_turn": select(func.coalesce(func.min(steps.c.turn) + ONE, ZERO)).where(_IN_QUEUE, IS_IN_TURN),
    "release": update(steps).where(_OF_EXECUTION, steps.c.worker == b("holder")).values(worker=null()),
    "release_lost": update(steps).where(steps.c.worker == b("holder")).values(worker=null(), is_lost=ONE),
    "leases": select(steps.c.execution_id, steps.c.worker).where(
        steps.c.run == b("of_run"), _in_json(steps.c.execution_id, "executions")
    ),
    "insert_worker": insert(workers).values(
        alive_until=b("alive_until"),
        host=b("host"),
        pid=b("pid"),
        process_started=b("process_started"),
        serves=b("serves"),
    ),
    "renew_worker": update(workers)
    .where(workers.c.worker == b("of_worker"))
    .values(alive_until=b("alive_until")),
    "delete_worker": delete(workers).where(workers.c.worker == b("of_worker")),
    "all_workers": select(workers),
    # Reading runs.
    "last_run": select(
        func.max(
            func.coalesce(select(func.max(runs.c.run)).scalar_subquery(), ZERO),
            func.coalesce(
                select(marks.c.value).where(marks.c.name == literal_column("'pruned_run'")).scalar_subquery(),
                ZERO,
            ),
        )
    ),
    "find_latest": select(*HEAD).where(runs.c.flow_id == b("of_flow_id"), runs.c.is_latest == ONE),
    "find_run": select(*HEAD).where(runs.c.run == b("of_run")),
    "versions": select(runs.c.run, runs.c.version, runs.c.is_latest).where(_in_json(runs.c.run, "runs")),
    "run_payload": select(runs.c.input, runs.c.state, runs.c.error).where(runs.c.run == b("of_run")),
    "steps_of": select(steps.c.execution_id, steps.c.step, steps.c.worker, steps.c.due_at, steps.c.body)
    .where(steps.c.run == b("of_run"))
    .order_by(literal_column("rowid")),
    "messages_of": select(messages.c.seq, messages.c.channel, messages.c.key, messages.c.value)
    .where(messages.c.run == b("of_run"))
    .order_by(messages.c.seq),
    "attributes_of": select(attributes.c.name, attributes.c.is_map, attributes.c.key, attributes.c.value)
    .where(attributes.c.run == b("of_run"))
    .order_by(literal_column("rowid")),
    "outputs_of": select(outputs.c.body).where(outputs.c.run == b("of_run")).order_by(outputs.c.position),
    "rounds_of": select(
        rounds.c.round,
        rounds.c.join,
        rounds.c.branch_count,
        rounds.c.counting,
        rounds.c.missed,
        rounds.c.members,
        rounds.c.is_cancelled,
    )
    .where(rounds.c.run == b("of_run"))
    .order_by(literal_column("rowid")),
    "reports_of": select(reports.c.round, reports.c.branch, reports.c.value)
    .where(reports.c.run == b("of_run"))
    .order_by(reports.c.round, reports.c.position),
    "history_of": select(
        history.c.version,
        history.c.at,
        history.c.kind,
        history.c.execution_id,
        history.c.body,
        history.c.event,
    )
    .where(history.c.run == b("of_run"), history.c.version > b("after_version"))
    .order_by(history.c.version),
    "live_of_definition": select(*HEAD)
    .where(
        runs.c.definition == b("of_definition"),
        runs.c.status == literal_column("'RUNNING'"),
        runs.c.run > b("after_run"),
    )
    .order_by(runs.c.run)
    .limit(b("limit"))
    .offset(ZERO),
    "busy": select(
        exists().where(
            steps.c.due_at.is_not(None),
            ~_IS_EXCLUDED,
            or_(
                steps.c.worker.is_not(None),
                and_(
                    ~_IS_PAUSED,
                    or_(
                        steps.c.due_at <= b("until"),
                        and_(steps.c.attempt > ONE, steps.c.phase != literal_column("'waiting'")),
                    ),
                ),
            ),
        )
    ),
    "busy_in_queue": select(
        exists().where(
            _IN_QUEUE,
            steps.c.due_at.is_not(None),
            or_(
                steps.c.worker.is_not(None),
                and_(
                    ~_IS_PAUSED,
                    or_(
                        steps.c.due_at <= b("until"),
                        and_(steps.c.attempt > ONE, steps.c.phase != literal_column("'waiting'")),
                    ),
                ),
            ),
        )
    ),
    # Projections of attributes.
    "claim_projections": update(projections)
    .where(projections.c.seq.in_(_oldest_projections))
    .values(worker=b("claimer"))
    .returning(
        projections.c.seq,
        projections.c.sender,
        projections.c.flow_id,
        projections.c.definition,
        projections.c.body,
    ),
    "delete_projection": delete(projections).where(projections.c.seq == b("of_seq")),
    "release_projections": update(projections)
    .where(projections.c.worker == b("holder"))
    .values(worker=null()),
    "has_projections": select(exists().where(projections.c.seq > ZERO)),
    "has_projections_of": select(exists().where(projections.c.sender == b("of_run"))),
    # Definitions.
    "insert_definition": _set_definition.on_conflict_do_update(
        index_elements=[definitions.c.hash], set_={"stored_at": _set_definition.excluded.stored_at}
    ),
    "definition_names": select(definitions.c.flow, definitions.c.hash).order_by(
        definitions.c.stored_at, literal_column("rowid")
    ),
    "definition": select(definitions.c.path, definitions.c.text).where(definitions.c.hash == b("of_hash")),
    # Pauses.
    "all_pauses": select(pauses.c.flow, pauses.c.step),
    "insert_pause": sqlite_insert(pauses).on_conflict_do_nothing(),
    "delete_pause": delete(pauses).where(pauses.c.flow == b("of_flow"), pauses.c.step == b("of_step")),
    # Queues.
    "all_queues": select(queues.c.queue, queues.c.name, queues.c.settings).order_by(queues.c.queue),
    "insert_queue": insert(queues).values(name=b("name"), settings=b("settings"), spent_until=ZERO),
    "set_queue": update(queues).where(queues.c.queue == b("the_queue")).values(settings=b("settings")),
    "delete_queue": delete(queues).where(queues.c.queue == b("the_queue")),
    "ready_queues": ready_queues(func.json_each(b("queues")).table_valued("value").c.value),
    "spent_of_queues": select(queues.c.queue, queues.c.spent_until).where(
        _in_json(queues.c.queue, "queues"),
    ),
    "spend": update(queues).where(queues.c.queue == b("the_queue")).values(spent_until=b("spent_until")),
    "leased_counts": select(steps.c.queue, func.count())
    .where(steps.c.worker.is_not(None), steps.c.queue > ZERO, _in_json(steps.c.queue, "queues"))
    .group_by(steps.c.queue),
    "calls": select(steps.c.run, steps.c.execution_id, runs.c.flow, steps.c.step, steps.c.queue)
    .join(runs, runs.c.run == steps.c.run)
    .where(steps.c.phase != literal_column("'waiting'"))
    .order_by(steps.c.run),
    "set_step_queue": update(steps).where(_OF_EXECUTION).values(queue=b("queue"), turn=null()),
    # Upkeep.
    "prunable_runs": select(runs.c.run)
    .where(runs.c.closed_at < b("before"))
    .order_by(runs.c.closed_at)
    .limit(b("limit"))
    .offset(ZERO),
    "prunable_count": select(func.count()).select_from(runs).where(runs.c.closed_at < b("before")),
    "mark": _mark.on_conflict_do_update(
        index_elements=[marks.c.name], set_={"value": func.max(marks.c.value, _mark.excluded.value)}
    ),
    "delete_unused_definitions": delete(definitions)
    .where(
        IS_UNUSED,
    )
    .returning(definitions.c.hash),
    "run_counts": select(runs.c.status, func.count()).group_by(runs.c.status).order_by(runs.c.status),
    "oldest_runs": select(
        select(func.min(runs.c.started_at))
        .where(runs.c.status == literal_column("'RUNNING'"))
        .scalar_subquery(),
        select(func.min(runs.c.closed_at)).where(runs.c.closed_at.is_not(None)).scalar_subquery(),
    ),
    "work_counts": select(
        steps.c.queue,
        func.count(case((steps.c.worker.is_not(None), ONE))),
        func.count(case((and_(steps.c.worker.is_(None), steps.c.due_at <= b("now")), ONE))),
    ).group_by(steps.c.queue),
    "row_counts": union_all(
        *(
            select(literal_column(f"'{table.name}'"), func.count()).select_from(table)
            for table in (definitions, history, messages, steps)
        )
    ),
    "runs_of": select(runs.c.run).where(runs.c.flow_id == b("of_flow_id")).order_by(runs.c.run),
    "all_runs": select(runs.c.run).order_by(runs.c.run),
    "all_definitions": select(definitions).order_by(definitions.c.stored_at),
    "insert_schema_version": insert(schema_version),
    "installed_version": select(func.max(schema_version.c.version)),
}

STATEMENTS |= list_statements(_in_json, b("value"), "X'C1'")

RUN_TABLES = tuple(table for table in METADATA.sorted_tables if "run" in table.c)
"""Whose rows belong to a run."""
for _table in RUN_TABLES:
    STATEMENTS[f"prune_{_table.name}"] = delete(_table).where(_in_json(_table.c.run, "runs"))
    STATEMENTS[f"export_{_table.name}"] = (
        select(*(column for column in _table.c if column.name != "run"))
        .where(_table.c.run == b("of_run"))
        .order_by(literal_column("rowid"))
    )
    STATEMENTS[f"import_{_table.name}"] = insert(_table)


def compile_sqlite() -> str:
    """The text of `sqlite.sql`."""
    dialect = sqlite.dialect(paramstyle="qmark")
    parts = ["-- Written by `python -m orchestrator.store.statements` out of statements.py.\n"]
    for table in METADATA.sorted_tables:
        parts.append(f"-- schema {table.name}\n{str(CreateTable(table).compile(dialect=dialect)).strip()}\n")
        parts.extend(
            f"-- schema {index.name}\n{CreateIndex(index).compile(dialect=dialect)}\n"
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        )
    for name, statement in STATEMENTS.items():
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        parts.append(f"-- statement {name}({', '.join(compiled.positiontup or ())})\n{compiled}\n")
    return "\n".join("\n".join(line.rstrip() for line in part.splitlines()) + "\n" for part in parts)


if __name__ == "__main__":
    Path(__file__).with_name("sqlite.sql").write_text(compile_sqlite(), encoding="utf-8")
