"""What attribute stores have not got yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from orchestrator.store.migrations import SEED_PROJECTIONS

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.create_table(
        "projections",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("sender", sa.BigInteger, nullable=False),
        sa.Column("flow_id", sa.Text, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("worker", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "projections_claimed", "projections", ["worker"], sqlite_where=sa.text("worker IS NOT NULL")
    )
    op.execute(SEED_PROJECTIONS)
