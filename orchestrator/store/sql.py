"""The compiled statements and the schema, read from `sqlite.sql` (statements.py says how it comes to be)."""

from __future__ import annotations

from importlib.resources import files


def _read() -> tuple[tuple[str, ...], dict[str, str], dict[str, tuple[str, ...]]]:
    schema: list[str] = []
    statements: dict[str, str] = {}
    parameters: dict[str, tuple[str, ...]] = {}
    text = files("orchestrator.store").joinpath("sqlite.sql").read_text(encoding="utf-8")
    for part in text.split("\n-- ")[1:]:
        head, _, body = part.partition("\n")
        kind, _, title = head.partition(" ")
        if kind == "schema":
            schema.append(body.strip())
            continue
        name, _, names = title.rstrip(")").partition("(")
        statements[name] = body.strip()
        parameters[name] = tuple(names.split(", ")) if names else ()
    return tuple(schema), statements, parameters


SCHEMA, STATEMENTS, PARAMETERS = _read()
"""DDL; SQL by name; what each `?` stands for, by name."""
