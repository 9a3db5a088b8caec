"""For revisions: values of a column that are to be written in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

_BATCH = 1000
"""Rows in memory at a time."""


def rewrite(table: str, key: Sequence[str], column: str, change: Callable[[Any], Any]) -> None:
    """`key`: columns that tell rows apart, best those of an index."""
    keys: list[sa.ColumnClause[Any]] = [sa.column(name) for name in key]
    value: sa.ColumnClause[Any] = sa.column(column)
    rows_of = sa.table(table, *keys, value)
    oldest = sa.select(*keys, value).order_by(*keys).limit(_BATCH)
    matches = [each == sa.bindparam(f"of_{each.name}") for each in keys]
    changed = sa.update(rows_of).where(*matches).values({value: sa.bindparam("new_value")})
    connection = op.get_bind()
    rows = connection.execute(oldest).all()
    while rows:
        new = [
            {f"of_{name}": row[i] for i, name in enumerate(key)} | {"new_value": change(row[-1])}
            for row in rows
        ]
        connection.execute(changed, new)
        rows = connection.execute(oldest.where(sa.tuple_(*keys) > sa.tuple_(*rows[-1][:-1]))).all()
