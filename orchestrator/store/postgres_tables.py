"""The tables as PostgreSQL has them: the same columns (tables.py), in a schema of their own.

What SQLite's row number says there, the order of insertion, a column of that name says here. Rows of `runs`
are updated in place: room is left for that on their pages.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Identity, MetaData, Sequence
from sqlalchemy.schema import CreateIndex, CreateSequence, CreateTable

from orchestrator.store.tables import METADATA

SCHEMA = "orchestrator"
"""As it stands in `postgres.sql`; a store puts its own in the place."""
_ORDERED = ("definitions", "steps", "attributes", "rounds")
"""Tables whose order of insertion matters."""
_FILL_FACTOR = 70


def _copy() -> MetaData:
    metadata = MetaData()
    for table in METADATA.sorted_tables:
        copied = table.to_metadata(metadata, schema=SCHEMA)
        if table.name in _ORDERED:
            copied.append_column(Column("rowid", BigInteger, Identity(always=True), nullable=False))
    metadata.tables[f"{SCHEMA}.runs"].dialect_options["postgresql"]["with"] = {"fillfactor": _FILL_FACTOR}
    return metadata


POSTGRES = _copy()
RUN_NUMBERS = Sequence("run_numbers", schema=SCHEMA)


def definitions() -> list[tuple[str, CreateTable | CreateIndex | CreateSequence]]:
    """What makes the tables, by name, in the order in which it is to run."""
    made: list[tuple[str, CreateTable | CreateIndex | CreateSequence]] = [
        ("run_numbers", CreateSequence(RUN_NUMBERS))
    ]
    for table in POSTGRES.sorted_tables:
        made.append((table.name, CreateTable(table)))
        # Of two that seem as good while nothing is there, PostgreSQL takes the one that was made later:
        # `runs_latest`, not `runs_newest`.
        indexes = sorted(table.indexes, key=lambda index: str(index.name), reverse=True)
        made.extend((str(index.name), CreateIndex(index)) for index in indexes)
    return made
