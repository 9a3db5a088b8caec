"""Indexes that find runs among very many: the newest, those of a flow or a status, those closed long ago."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    _index("runs_newest", ["started_at", "run"], "is_latest = 1")
    op.create_index("runs_by_flow", "runs", ["flow", "started_at", "run"])
    op.create_index("runs_by_status", "runs", ["status", "started_at", "run"])
    _index("runs_closed", ["closed_at"], "closed_at IS NOT NULL")


def _index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "runs", columns, sqlite_where=where, postgresql_where=where)
