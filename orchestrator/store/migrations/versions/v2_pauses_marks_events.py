"""Pauses, marks, what clients did; bodies in MessagePack instead of JSON."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa
from alembic import op

from orchestrator.store.migrations.rewriting import rewrite

revision = "2"
down_revision = "1"


def upgrade() -> None:
    rewrite("history", ("run", "version"), "body", msgpack_of_json)
    rewrite("steps", ("run", "execution_id"), "body", msgpack_of_json)
    op.add_column("history", sa.Column("event", sa.LargeBinary))
    op.create_table(
        "pauses",
        sa.Column("flow", sa.Text, nullable=False),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("paused_at", sa.BigInteger, nullable=False),
    )
    op.create_index("pauses_identity", "pauses", ["flow", "step"], unique=True)
    op.create_table(
        "marks",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.create_index("marks_identity", "marks", ["name"], unique=True)


def msgpack_of_json(body: bytes) -> bytes:
    return msgspec.msgpack.encode(msgspec.json.decode(body))
