from importlib.resources import files

from orchestrator.store.sql import PARAMETERS, SCHEMA, STATEMENTS
from orchestrator.store.statements import STATEMENTS as DEFINED
from orchestrator.store.statements import compile_sqlite
from orchestrator.store.writes import ORDER


def test_the_sql_file_is_what_core_compiles() -> None:
    committed = files("orchestrator.store").joinpath("sqlite.sql").read_text(encoding="utf-8")
    assert committed == compile_sqlite(), "run: python -m orchestrator.store.statements"


def test_every_defined_statement_is_read_from_the_file() -> None:
    assert set(STATEMENTS) == set(DEFINED)
    assert all(STATEMENTS[name].count("?") == len(PARAMETERS[name]) for name in STATEMENTS)
    assert len([text for text in SCHEMA if text.startswith("CREATE TABLE")]) == 15


def test_every_kind_of_write_has_its_statement() -> None:
    assert set(ORDER) <= set(STATEMENTS)


def test_row_parameters_stand_in_the_order_of_the_statement() -> None:
    assert PARAMETERS["update_run"] == ("version", "state", "of_run", "from_version")
    assert PARAMETERS["close_run"] == (
        "status",
        "version",
        "attempt",
        "closed_at",
        "state",
        "error",
        "of_run",
        "from_version",
    )
    assert PARAMETERS["insert_run"] == (
        "run",
        "flow_id",
        "is_latest",
        "run_id",
        "flow",
        "definition",
        "request_id",
        "status",
        "version",
        "attempt",
        "started_at",
        "closed_at",
        "input",
        "state",
        "error",
    )
    assert PARAMETERS["insert_step"] == (
        "run",
        "execution_id",
        "step",
        "phase",
        "attempt",
        "due_at",
        "worker",
        "body",
    )
    assert PARAMETERS["update_step"] == (
        "phase",
        "attempt",
        "due_at",
        "worker",
        "body",
        "of_run",
        "of_execution",
    )
    assert PARAMETERS["set_attribute"] == ("run", "name", "is_map", "key", "value")
