"""Every statement as PostgreSQL runs it, in SQLAlchemy Core; written out as `postgres.sql`.

Most are those of statements.py. Others differ where SQLite has JSON arrays, its own way to insert or replace,
and one writer only: here whoever writes a run holds the lock of its row. `bulk_…` writes many rows at once.
`python -m orchestrator.store.postgres_statements` writes the file again, a test compares.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Executable,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    column,
    delete,
    exists,
    extract,
    func,
    insert,
    literal_column,
    select,
    table,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import (
    ARRAY,
    BIGINT,
    BYTEA,
    INTEGER,
    OID,
    TEXT,
    psycopg,
)
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import UserDefinedType

from orchestrator.store import statements as shared
from orchestrator.store.heads import list_statements
from orchestrator.store.postgres_tables import SCHEMA
from orchestrator.store.postgres_tables import definitions as made
from orchestrator.store.postgres_work_statements import LOCKED, ORDERS, WORK, is_any, is_one_of
from orchestrator.store.statements import RUN_TABLES
from orchestrator.store.tables import (
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
    runs,
    steps,
    workers,
)
from orchestrator.store.work_statements import ONE, ZERO

b = bindparam
_DIALECT = psycopg.dialect(paramstyle="format")  # type: ignore[no-untyped-call]


def _guarded(changing: Any, expected: ColumnElement[Any]) -> Select[Any]:
    """Fails inside the database, before a commit that is already under way, unless all rows were found."""
    found = changing.returning(literal_column("1")).cte("found")
    count = select(func.count()).select_from(found).scalar_subquery()
    return select(ONE.op("/")(case((count == expected, ONE), else_=ZERO)))


def _parameters(name: str) -> dict[str, Any]:
    """Type by parameter, in order."""
    compiled = _STATEMENTS[name].compile(dialect=_DIALECT)
    return {each: compiled.binds[each].type for each in compiled.positiontup or ()}


def _rows(types: dict[str, Any]) -> Any:
    """One array for each column."""
    arrays = (b(name, type_=ARRAY(kind)) for name, kind in types.items())
    columns = (column(name, kind) for name, kind in types.items())
    return func.unnest(*arrays).table_valued(*columns).render_derived(name="v")


def _bulk_insert(name: str, into: Any, **constants: ColumnElement[Any]) -> Executable:
    types = _parameters(name)
    v = _rows(types)
    return insert(into).from_select([*types, *constants], select(*v.c, *constants.values()))


def _bulk_insert_in_turn(name: str) -> Any:
    """Stands in one queue, which comes last, twice; `turn` is a rank, the rounds from the next one on."""
    types = {each: kind for each, kind in _parameters(name).items() if each != "queue"}
    v = _listed(types)
    placed = _placed_in_turn(v)
    names = [each for each in types if each != "turn"]
    return insert(steps).from_select(
        [*names, *placed], select(*(v.c[each] for each in names), *placed.values())
    )


def _bulk_change_in_turn(name: str, keys: dict[str, Any]) -> Any:
    types = {each: kind for each, kind in _parameters(name).items() if each != "queue"}
    v = _listed(types)
    return _matched(update(steps), v, keys).values(_new_values(v, keys) | _placed_in_turn(v))


def _placed_in_turn(v: Any) -> dict[str, Any]:
    waiting = steps.alias("waiting")
    in_queue = and_(waiting.c.queue == b("of_queue"), waiting.c.worker.is_(None), waiting.c.turn.is_not(None))
    next_turn: Any = select(func.coalesce(func.min(waiting.c.turn) + ONE, ZERO)).where(in_queue)
    turn = next_turn.scalar_subquery() + v.c.turn
    return {"queue": b("queue", type_=INTEGER), "is_lost": ZERO, "turn": turn}


def _bulk_change(name: str, changing: Any, keys: dict[str, Any], **constants: Any) -> Any:
    v = _listed(_parameters(name))
    values = _new_values(v, keys) | constants
    matches = _matched(changing, v, keys)
    return matches.values(values) if values else matches


def _listed(types: dict[str, Any]) -> Any:
    return select(_rows(types)).cte("v")


def _matched(changing: Any, v: Any, keys: dict[str, Any]) -> Any:
    """`keys`: column by parameter; the other parameters are new values."""
    are_keys = (key == v.c[each] for each, key in keys.items())
    return changing.where(is_one_of(keys["of_run"], v.c.of_run), *are_keys)


def _new_values(v: Any, keys: dict[str, Any]) -> dict[str, Any]:
    return {each.name: each for each in v.c if each.name not in keys}


# --- Locks ---


def _lock(condition: ColumnElement[bool], *, waits: bool) -> Executable:
    return select(*LOCKED).where(condition).order_by(runs.c.run).with_for_update(nowait=not waits)


_OF_FLOW_IDS = and_(is_any(runs.c.flow_id, "flow_ids", TEXT), runs.c.is_latest == ONE)
_latest_runs: Any = func.array(select(runs.c.run).where(_OF_FLOW_IDS).correlate(None).scalar_subquery())
_EITHER = runs.c.run == func.any(func.array_cat(b("runs", type_=ARRAY(BIGINT)), _latest_runs))
"""Those that became the latest while the lock was waited for are not among them."""
_known = (
    select(definitions.c.hash)
    .where(is_any(definitions.c.hash, "hashes", TEXT))
    .with_for_update(read=True, key_share=True)
    .cte("known")
)
_known_count: Any = select(func.count()).select_from(_known).scalar_subquery()
_known_one = (
    select(definitions.c.hash)
    .where(definitions.c.hash == b("hash"))
    .with_for_update(read=True, key_share=True)
    .cte("known")
)
_known_one_count: Any = select(func.count()).select_from(_known_one).scalar_subquery()
_kept = (
    select(workers.c.worker)
    .where(is_any(workers.c.worker, "workers", BIGINT))
    .with_for_update(read=True, key_share=True)
    .subquery("kept")
)
_kept_count: Any = select(func.count()).select_from(_kept).scalar_subquery()


def _demand(*orders: ColumnElement[bool]) -> Select[Any]:
    """`orders`: that nothing was paused or resumed, and no queue set, meanwhile."""
    fence = func.pg_try_advisory_xact_lock(b("fence", type_=BIGINT))
    are_kept = _kept_count == b("worker_count", type_=BIGINT)
    return select(ONE.op("/")(case((and_(fence, are_kept, *orders), ONE), else_=ZERO)))


# --- Others ---

_set_attribute = postgres_insert(attributes)
_set_definition = postgres_insert(definitions)


class _Xid8(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "XID8"


_TRANSACTION = _Xid8()
_mark = postgres_insert(marks).values(name=b("name"), value=b("value"))
_class: FromClause = table(
    "pg_class",
    *(column(name) for name in ("oid", "relname", "relnamespace", "relkind")),
    schema="pg_catalog",
)
_namespace: FromClause = table("pg_namespace", column("oid"), column("nspname"), schema="pg_catalog")
_other: Any = projections.alias("other")

_STATEMENTS: dict[str, Any] = shared.STATEMENTS | {
    "update_run": _guarded(shared.STATEMENTS["update_run"], ONE),
    "close_run": _guarded(shared.STATEMENTS["close_run"], ONE),
    "set_attribute": _set_attribute.on_conflict_do_update(
        index_elements=[attributes.c.run, attributes.c.name, attributes.c.key],
        set_={"value": _set_attribute.excluded.value},
    ),
    "insert_definition": _set_definition.on_conflict_do_update(
        index_elements=[definitions.c.hash], set_={"stored_at": _set_definition.excluded.stored_at}
    ),
    "insert_pause": postgres_insert(pauses).on_conflict_do_nothing(),
    "mark": _mark.on_conflict_do_update(
        index_elements=[marks.c.name], set_={"value": func.greatest(marks.c.value, _mark.excluded.value)}
    ),
    **WORK,
    "leases": select(steps.c.execution_id, steps.c.worker).where(
        steps.c.run == b("of_run"), is_any(steps.c.execution_id, "executions", TEXT)
    ),
    "insert_worker": shared.STATEMENTS["insert_worker"].returning(workers.c.worker),  # type: ignore[attr-defined]
    "renew_worker": shared.STATEMENTS["renew_worker"].returning(workers.c.worker),  # type: ignore[attr-defined]
    "all_workers": select(workers).order_by(workers.c.worker),
    "keep_workers": select(workers.c.worker)
    .where(is_any(workers.c.worker, "workers", BIGINT))
    .with_for_update(read=True, key_share=True),
    "claim_projections": update(projections)
    .where(
        projections.c.seq.in_(
            select(projections.c.seq)
            .where(~exists().where(_other.c.worker != b("claimer")))
            .order_by(projections.c.seq)
            .limit(b("limit"))
            .correlate(None)
        )
    )
    .values(worker=b("claimer"))
    .returning(
        projections.c.seq,
        projections.c.sender,
        projections.c.flow_id,
        projections.c.definition,
        projections.c.body,
    ),
    "demand": _demand(ORDERS.is_not_distinct_from(b("orders", type_=TEXT))),
    "demand_no_orders": _demand(~exists(select(pauses.c.flow)), ~exists(select(queues.c.queue))),
    "fence": select(func.pg_try_advisory_lock(b("fence", type_=BIGINT))),
    "lock_schema": select(func.pg_advisory_xact_lock(func.hashtext(b("lock", type_=TEXT)))),
    "has_table": select(  # not `to_regclass`: a snapshot sees what others have just made, its cache may not
        exists().where(
            _namespace.c.oid == _class.c.relnamespace,
            _namespace.c.nspname == b("schema", type_=TEXT),
            _class.c.relname == b("table", type_=TEXT),
        )
    ),
    "lock_projections": select(func.pg_advisory_xact_lock(func.hashtext(b("lock", type_=TEXT)))),
    "lock_runs": _lock(_EITHER, waits=True),
    "lock_runs_now": _lock(_EITHER, waits=False),
    "latest_of": select(runs.c.flow_id, runs.c.run).where(_OF_FLOW_IDS),
    "lock_runs_of_worker": _lock(
        runs.c.run.in_(select(steps.c.run).where(steps.c.worker == b("holder"))), waits=True
    ),
    "demand_definitions": select(
        ONE.op("/")(case((_known_count == func.cardinality(b("hashes", type_=ARRAY(TEXT))), ONE), else_=ZERO))
    ),
    "demand_definition": select(ONE.op("/")(case((_known_one_count == ONE, ONE), else_=ZERO))),
    "run_numbers": select(func.nextval(b("sequence", type_=TEXT))).select_from(
        func.generate_series(ONE, b("count", type_=BIGINT))
    ),
    "prunable_runs": select(runs.c.run)
    .where(runs.c.closed_at < b("before"))
    .order_by(runs.c.closed_at)
    .limit(b("limit"))
    .with_for_update(skip_locked=True),
    "unused_definitions": select(definitions.c.hash)
    .where(shared.IS_UNUSED)
    .order_by(definitions.c.hash)
    .with_for_update(),
    "delete_unused_definitions": delete(definitions)
    .where(is_any(definitions.c.hash, "hashes", TEXT), shared.IS_UNUSED)
    .returning(definitions.c.hash),
    "used_bytes": select(func.coalesce(func.sum(func.pg_total_relation_size(_class.c.oid)), ZERO))
    .select_from(_class.join(_namespace, _namespace.c.oid == _class.c.relnamespace))
    .where(_namespace.c.nspname == b("schema", type_=TEXT), _class.c.relkind == literal_column("'r'")),
    "clock_time": select((extract("epoch", func.clock_timestamp()) * literal_column("1000000")).cast(BIGINT)),
    "identity": select(
        func.current_database(),
        func.pg_postmaster_start_time().cast(TEXT),
        func.to_regclass(b("table", type_=TEXT)).cast(OID).cast(BIGINT),
    ),
    "this_transaction": select(func.pg_current_xact_id().cast(TEXT)),
    "fate": select(func.pg_xact_status(b("transaction", type_=TEXT).cast(_TRANSACTION))),
    "notify": select(func.pg_notify(b("channel", type_=TEXT), b("payload", type_=TEXT))),
}
for _name in ("claim_due", "claim_in_turn"):
    del _STATEMENTS[_name], _STATEMENTS[f"{_name}_except"]
_STATEMENTS |= list_statements(
    lambda column, name: is_any(column, name, BIGINT), b("value").cast(BYTEA), r"'\xC1'::bytea"
)
del _STATEMENTS["versions"], _STATEMENTS["last_run"], _STATEMENTS["next_turn"]

_ORDER = {
    "history": history.c.version,
    "messages": messages.c.seq,
    "outputs": outputs.c.position,
    "reports": reports.c.position,
    "runs": runs.c.run,
}
for _table in RUN_TABLES:
    _STATEMENTS[f"prune_{_table.name}"] = delete(_table).where(is_any(_table.c.run, "runs", BIGINT))
    _STATEMENTS[f"export_{_table.name}"] = (
        select(*(each for each in _table.c if each.name != "run"))
        .where(_table.c.run == b("of_run"))
        .order_by(_ORDER.get(_table.name, literal_column("rowid")))
    )


_wanted = union_all(
    select(func.unnest(b("runs", type_=ARRAY(BIGINT))).label("run")), select(runs.c.run).where(_OF_FLOW_IDS)
).cte("wanted")
_STATEMENTS["each_rows_of_run"] = shared.rows_of_run(
    lambda _, of: ([of.c.run], is_one_of(of.c.run, _wanted.c.run))
)
"""Of the runs of these numbers and the latest ones of these flow ids."""
_behind = func.unnest(b("runs", type_=ARRAY(BIGINT)), b("after_versions", type_=ARRAY(BIGINT)))
_behind_rows = _behind.table_valued(column("run", BIGINT), column("version", BIGINT)).render_derived(name="v")
_STATEMENTS["each_history_of"] = (
    select(history.c.run, *_STATEMENTS["history_of"].selected_columns)
    .where(history.c.run == _behind_rows.c.run, history.c.version > _behind_rows.c.version)
    .order_by(history.c.run, history.c.version)
)
_STEP = {"of_run": steps.c.run, "of_execution": steps.c.execution_id}
_RUN = {"of_run": runs.c.run, "from_version": runs.c.version}
_EXPECTED: ColumnElement[Any] = b("expected", type_=BIGINT)
BULK: dict[str, Any] = {
    "insert_run": _bulk_insert("insert_run", runs),
    "update_run": _guarded(_bulk_change("update_run", update(runs), _RUN), _EXPECTED),
    "close_run": _guarded(_bulk_change("close_run", update(runs), _RUN), _EXPECTED),
    "insert_step": _bulk_insert("insert_step", steps, is_lost=ZERO),
    "update_step": _bulk_change("update_step", update(steps), _STEP, is_lost=ZERO),
    "insert_queued_step": _bulk_insert_in_turn("insert_queued_step"),
    "update_queued_step": _bulk_change_in_turn("update_queued_step", _STEP),
    "delete_step": _bulk_change("delete_step", delete(steps), _STEP),
    "delete_steps": _bulk_change("delete_steps", delete(steps), {"of_run": steps.c.run}),
    "insert_message": _bulk_insert("insert_message", messages),
    "delete_message": _bulk_change(
        "delete_message", delete(messages), {"of_run": messages.c.run, "of_seq": messages.c.seq}
    ),
    "insert_output": _bulk_insert("insert_output", outputs),
    "insert_report": _bulk_insert("insert_report", reports),
    "insert_history": _bulk_insert("insert_history", history),
}
STATEMENTS: dict[str, Any] = _STATEMENTS | {f"bulk_{name}": statement for name, statement in BULK.items()}
MERGED = {
    "begin": ("demand_definition", "insert_run", "insert_step", "insert_history"),
    "advance": ("update_run", "delete_step", "insert_step", "insert_history"),
    "finish": ("close_run", "delete_steps", "insert_history"),
    "finish_and_ring": ("close_run", "delete_steps", "insert_history", "notify"),
}
"""Several as one; their parameters one after the other. `trusting_…`: behind "demand_no_orders", whose
parameters come last.
"""
TRUSTING = "demand_no_orders"
_GUARDED = re.compile(
    r"(?:WITH (?P<made>\w+ AS ?\n\(.*\))\n )?SELECT 1 / (?P<verdict>CASE .* END) AS anon_1", re.S
)
_FAVOURABLE = "THEN 1 ELSE 0 END"


def _merge(names: tuple[str, ...]) -> tuple[list[str], str]:
    """Parameters and text. What is demanded is looked at first, and locked, in the order of `names`.

    A query that is not asked for its rows would not be executed.
    """
    parameters, made, verdict = [], [], "1"
    for name in reversed(names):
        its_parameters, text = _compile(STATEMENTS[name])
        if guarded := _GUARDED.fullmatch(text):
            verdict = guarded["verdict"].replace(_FAVOURABLE, f"THEN {verdict} ELSE 0 END")
        made.append(guarded["made"] if guarded else f"{name} AS\n({text})")
        parameters.append(its_parameters)
    written = ",\n".join(each for each in reversed(made) if each)
    asked = "\nFROM notify" if "notify" in names else ""
    text = f"WITH {written}\n SELECT 1 / {verdict} AS anon_1{asked}"
    return [*chain.from_iterable(reversed(parameters))], text


def _trust(names: tuple[str, ...]) -> tuple[list[str], str]:
    parameters, text = _merge((TRUSTING, *names))
    demanded = len(_compile(STATEMENTS[TRUSTING])[0])
    return [*parameters[demanded:], *parameters[:demanded]], text


def _compile(statement: Any) -> tuple[list[str], str]:
    compiled = statement.compile(
        dialect=_DIALECT, schema_translate_map={None: SCHEMA}, render_schema_translate=True
    )
    return list(compiled.positiontup or ()), str(compiled)


def compile_postgres() -> str:
    """The text of `postgres.sql`."""
    parts = ["-- Written by `python -m orchestrator.store.postgres_statements` from that module.\n"]
    for name, making in made():
        parts.append(f"-- schema {name}\n{str(making.compile(dialect=_DIALECT)).strip()}\n")
    compiled = {name: _compile(statement) for name, statement in STATEMENTS.items()}
    merged = {name: _merge(names) for name, names in MERGED.items()}
    merged |= {f"trusting_{name}": _trust(names) for name, names in MERGED.items()}
    for name, (parameters, text) in (compiled | merged).items():
        parts.append(f"-- statement {name}({', '.join(parameters)})\n{text}\n")
    return "\n".join("\n".join(line.rstrip() for line in part.splitlines()) + "\n" for part in parts)


if __name__ == "__main__":
    Path(__file__).with_name("postgres.sql").write_text(compile_postgres(), encoding="utf-8")
