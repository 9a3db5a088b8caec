"""What the tables of a store are like, whichever way they came to be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from orchestrator.store.postgres_url import is_postgres, read_url

_POSTGRES = {
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               pg_get_expr(d.adbin, d.adrelid)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
        WHERE c.relnamespace = to_regnamespace(%(schema)s) AND c.relkind IN ('r', 'v') AND a.attnum > 0
          AND NOT a.attisdropped""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = to_regnamespace(%(schema)s)""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %(schema)s",
    "others": """
        SELECT relname, relkind, reloptions::text FROM pg_class
        WHERE relnamespace = to_regnamespace(%(schema)s)""",
    "functions": "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = to_regnamespace(%(schema)s)",
}


def shape_of(url: str) -> dict[str, Any]:
    """Tables, columns and indexes; the order of columns, which nothing depends on, left out."""
    return _on_postgres(url) if is_postgres(url) else _in_file(url.removeprefix("sqlite:///"))


def _in_file(path: str) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        return {
            f"{kind} {name}": (
                sorted(
                    row[1:]
                    for row in connection.execute(f"SELECT * FROM pragma_table_info('{name}')").fetchall()
                ),
                [row[2:] for row in connection.execute(f"SELECT * FROM pragma_index_xinfo('{name}')")],
                (sql or "").partition(" WHERE ")[2].replace('"', ""),
                "AUTOINCREMENT" in (sql or ""),
            )
            for kind, name, sql in found
        }


def _on_postgres(url: str) -> dict[str, Any]:
    address = read_url(url)
    with psycopg.connect(address.conninfo) as connection:
        shape = {}
        for name, query in _POSTGRES.items():
            rows = connection.execute(query, {"schema": address.schema}).fetchall()
            shape[name] = sorted(
                tuple(str(each).replace(address.schema, "SCHEMA") for each in row) for row in rows
            )
        return shape
