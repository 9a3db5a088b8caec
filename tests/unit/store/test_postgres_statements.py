from importlib.resources import files

from orchestrator.store.postgres_statements import BULK, MERGED, TRUSTING, compile_postgres
from orchestrator.store.postgres_statements import STATEMENTS as DEFINED
from orchestrator.store.sql import PARAMETERS, read_sql
from orchestrator.store.sql import STATEMENTS as ON_SQLITE
from orchestrator.store.writes import ORDER, QUEUED

SCHEMA, STATEMENTS, ON_POSTGRES = read_sql("postgres.sql")


def test_the_sql_file_is_what_core_compiles() -> None:
    committed = files("orchestrator.store").joinpath("postgres.sql").read_text(encoding="utf-8")
    assert committed == compile_postgres(), "run: python -m orchestrator.store.postgres_statements"


def test_every_defined_statement_is_read_from_the_file() -> None:
    assert set(STATEMENTS) == set(DEFINED) | set(MERGED) | {f"trusting_{name}" for name in MERGED}
    assert all(STATEMENTS[name].count("%s") == len(ON_POSTGRES[name]) for name in STATEMENTS)
    assert len([text for text in SCHEMA if text.startswith("CREATE TABLE")]) == 15


def test_row_parameters_stand_in_the_order_that_sqlite_has_them_in() -> None:
    assert {name: ON_POSTGRES[name] for name in ORDER} == {name: PARAMETERS[name] for name in ORDER}


def test_many_rows_have_the_columns_of_one() -> None:
    for name in BULK:
        if name in QUEUED:
            one = [each for each in ON_POSTGRES[name] if each != "queue"]
            assert list(ON_POSTGRES[f"bulk_{name}"]) == [*one, "queue", "of_queue"]
            continue
        guard = ["expected"] if name in ("update_run", "close_run") else []
        assert list(ON_POSTGRES[f"bulk_{name}"]) == [*ON_POSTGRES[name], *guard]


def test_merged_statements_take_the_parameters_of_each_in_the_order_of_writes() -> None:
    order: list[str] = list(ORDER)
    for merged, names in MERGED.items():
        assert ON_POSTGRES[merged] == tuple(each for name in names for each in ON_POSTGRES[name])
        written = [name for name in names if name in order]
        assert sorted(written, key=order.index) == written
        assert ON_POSTGRES[f"trusting_{merged}"] == (*ON_POSTGRES[merged], *ON_POSTGRES[TRUSTING])


def test_merged_statements_demand_what_each_of_theirs_demands() -> None:
    demand = "CASE WHEN"
    for merged, names in MERGED.items():
        demanded_count = sum(STATEMENTS[name].count(demand) for name in names)
        assert demanded_count > 0
        assert STATEMENTS[merged].count(demand) == demanded_count
        assert STATEMENTS[f"trusting_{merged}"].count(demand) == demanded_count + 1


def test_both_databases_have_the_same_statements_but_for_locks_and_bulk() -> None:
    assert set(ON_SQLITE) - set(STATEMENTS) == {
        "versions",
        "last_run",
        "next_turn",
        "claim_due",
        "claim_due_except",
        "claim_in_turn",
        "claim_in_turn_except",
    }
    assert {"hold_queues", "orders"} <= set(STATEMENTS) - set(ON_SQLITE)
