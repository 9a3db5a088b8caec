"""Every column that holds bytes is known to exports."""

from sqlalchemy import LargeBinary

from orchestrator.store.packing import JSON_COLUMNS, MESSAGEPACK_COLUMNS, NULLABLE_COLUMNS
from orchestrator.store.sql import COLUMNS, RUN_TABLES
from orchestrator.store.statements import RUN_TABLES as DEFINED


def test_every_column_of_bytes_is_json_or_messagepack() -> None:
    binary = {
        (table.name, column.name)
        for table in DEFINED
        for column in table.c
        if isinstance(column.type, LargeBinary)
    }
    assert binary == JSON_COLUMNS | MESSAGEPACK_COLUMNS


def test_columns_of_bytes_that_may_be_null_are_known() -> None:
    nullable = {
        (table.name, column.name)
        for table in DEFINED
        for column in table.c
        if isinstance(column.type, LargeBinary) and column.nullable
    }
    assert nullable == NULLABLE_COLUMNS


def test_every_table_of_runs_is_exported() -> None:
    assert set(RUN_TABLES) == {table.name for table in DEFINED}
    assert {table.name: {c.name for c in table.c} - {"run"} for table in DEFINED} == {
        name: set(columns) for name, columns in COLUMNS.items()
    }
