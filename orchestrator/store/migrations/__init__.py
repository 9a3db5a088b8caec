"""How a store of an earlier release becomes one of this release: an alembic revision for each schema version.

To change the schema: change `tables.py` (new columns last), write the SQL files again, add a revision under
`versions/` named after the next number, and count SCHEMA_VERSION up. Revisions run on both databases, with
names that need no schema before them, all that are needed in one transaction. Tests compare what they lead to
with what is made anew. What was released is never changed.

`schema_version` is the version table: a row for each version that a store has been at.
"""

from __future__ import annotations

SCHEMA_VERSION = 5
"""Of this release."""

SEED_PROJECTIONS = (
    "INSERT INTO sqlite_sequence (name, seq) "
    "VALUES ('projections', CAST(strftime('%s', 'now') AS INTEGER) * 1000000)"
)
"""SQLite: numbers start at the time of making: those of a database that replaces another one are higher."""
