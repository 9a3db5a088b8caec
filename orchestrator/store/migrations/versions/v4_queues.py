"""Queues, and the turn in which ready work comes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.add_column("steps", sa.Column("queue", sa.Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("steps", sa.Column("turn", sa.BigInteger))
    op.drop_index("steps_claimable", "steps")
    _index("steps_claimable", ["queue", "due_at"], "worker IS NULL AND turn IS NULL AND due_at IS NOT NULL")
    _index("steps_in_turn", ["queue", "turn"], "worker IS NULL AND turn IS NOT NULL")
    _index("steps_in_queues", ["queue"], "worker IS NOT NULL AND queue > 0")
    op.add_column("workers", sa.Column("serves", sa.Text, nullable=False, server_default=sa.text("''")))
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "queues",
        sa.Column("queue", number, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("spent_until", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("queues_identity", "queues", ["name"], unique=True)


def _index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "steps", columns, sqlite_where=where, postgresql_where=where)
