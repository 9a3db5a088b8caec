"""The compiled statements and the schema, read from `sqlite.sql` (statements.py says how it comes to be)
or the file of another database."""

from __future__ import annotations

from importlib.resources import files


def read_sql(name: str) -> tuple[tuple[str, ...], dict[str, str], dict[str, tuple[str, ...]]]:
    """DDL; SQL by name; what each parameter stands for, by name."""
    schema: list[str] = []
    statements: dict[str, str] = {}
    parameters: dict[str, tuple[str, ...]] = {}
    text = files("orchestrator.store").joinpath(name).read_text(encoding="utf-8")
    for part in text.split("\n-- ")[1:]:
        head, _, body = part.partition("\n")
        kind, _, title = head.partition(" ")
        if kind == "schema":
            schema.append(body.strip())
            continue
        statement, _, names = title.rstrip(")").partition("(")
        statements[statement] = body.strip()
        parameters[statement] = tuple(names.split(", ")) if names else ()
    return tuple(schema), statements, parameters


SCHEMA, STATEMENTS, PARAMETERS = read_sql("sqlite.sql")
"""DDL; SQL by name; what each `?` stands for, by name."""

RUN_TABLES = tuple(name.removeprefix("export_") for name in STATEMENTS if name.startswith("export_"))
"""Whose rows belong to a run."""
COLUMNS = {table: PARAMETERS[f"import_{table}"][1:] for table in RUN_TABLES}
"""Columns of the rows of a run, without the run's number."""
