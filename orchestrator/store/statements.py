"""Every statement, in SQLAlchemy Core; written out as `sqlite.sql`, which the driver runs.

Executing through SQLAlchemy costs as much as SQLite itself, and importing it is most of a short command's
time. So Core defines and the driver executes: `python -m orchestrator.store.statements` writes the file
again, a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Executable,
    FromClause,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.schema import CreateIndex, CreateTable

from orchestrator.store.heads import HEAD, list_statements
from orchestrator.store.objects import MARK
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
    reports,
    rounds,
    runs,
    schema_version,
    steps,
    workers,
)
from orchestrator.store.work_statements import OF_EXECUTION, ONE, WORK, ZERO, in_json

b = bindparam
_rowid: ColumnElement[Any] = literal_column("rowid")
_no_text, _no_number = cast(null(), Text), cast(null(), BigInteger)
_run_bodies = (runs.c.input, runs.c.state, runs.c.error)
_ROWS_OF_RUN: tuple[tuple[Any, ...], ...] = (
    (runs, runs.c.run, _no_text, _no_text, _no_number, *_run_bodies),
    (steps, _rowid, steps.c.execution_id, null(), steps.c.worker, steps.c.body),
    (messages, messages.c.seq, messages.c.channel, messages.c.key, null(), messages.c.value),
    (attributes, _rowid, attributes.c.name, attributes.c.key, attributes.c.is_map, attributes.c.value),
    (rounds, _rowid, null(), null(), null(), null()),
    (outputs, outputs.c.position, null(), null(), null(), outputs.c.body),
)
"""What loads a run (loading.py): a table, the row's place among those of its run, two texts, a number and
up to three bodies."""


def rows_of_run(
    find: Callable[[int, FromClause], tuple[list[Any], ColumnElement[bool]]],
) -> CompoundSelect[Any]:
    """Of all tables, with the number of the table first. `find`: what goes before, and which rows."""
    parts = []
    for kind, (of, *columns) in enumerate(_ROWS_OF_RUN):
        bodies = [null()] * (7 - len(columns))
        before, condition = find(kind, of)
        parts.append(select(*before, literal_column(str(kind)), *columns, *bodies).where(condition))
    return union_all(*parts)


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

_CHANGED = {
    "phase": b("phase"),
    "attempt": b("attempt"),
    "due_at": b("due_at"),
    "worker": b("worker"),
    "is_lost": ZERO,
    "body": b("body"),
}
_NEW = {"run": b("run"), "execution_id": b("execution_id"), "step": b("step"), **_CHANGED}
"""What is written of an execution."""

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
        **_NEW,
    ),
    "update_step": update(steps)
    .where(OF_EXECUTION)
    .values(
        **_CHANGED,
        queue=ZERO,
        turn=null(),
    ),
    "insert_queued_step": insert(steps).values(
        **_NEW,
        queue=b("queue"),
        turn=b("turn"),
    ),
    "update_queued_step": update(steps)
    .where(OF_EXECUTION)
    .values(
        **_CHANGED,
        queue=b("queue"),
        turn=b("turn"),
    ),
    "delete_step": delete(steps).where(OF_EXECUTION),
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
    **WORK,
    "release": update(steps).where(OF_EXECUTION, steps.c.worker == b("holder")).values(worker=null()),
    "release_lost": update(steps).where(steps.c.worker == b("holder")).values(worker=null(), is_lost=ONE),
    "leases": select(steps.c.execution_id, steps.c.worker).where(
        steps.c.run == b("of_run"), in_json(steps.c.execution_id, "executions")
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
    "versions": select(runs.c.run, runs.c.version, runs.c.is_latest).where(in_json(runs.c.run, "runs")),
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
    "rows_of_run": rows_of_run(lambda kind, of: ([], of.c.run == b(f"run_{kind}"))),
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
    "unmark": delete(marks).where(marks.c.name == b("of_name")),
    "runs_with_objects_left": select(marks.c.value)
    .where(func.substr(marks.c.name, ONE, literal_column(str(len(MARK)))) == literal_column(f"'{MARK}'"))
    .order_by(marks.c.value),
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

STATEMENTS |= list_statements(in_json, b("value"), "X'C1'")

RUN_TABLES = tuple(table for table in METADATA.sorted_tables if "run" in table.c)
"""Whose rows belong to a run."""
for _table in RUN_TABLES:
    STATEMENTS[f"prune_{_table.name}"] = delete(_table).where(in_json(_table.c.run, "runs"))
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
