"""Pauses, marks, what clients did; bodies in MessagePack instead of JSON, executions with short keys."""

from __future__ import annotations

from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from orchestrator.store.migrations.rewriting import rewrite

revision = "2"
down_revision = "1"

_SHORT = {
    "step": "s",
    "number": "n",
    "origin": "o",
    "phase": "p",
    "due_at": "d",
    "input": "i",
    "attempt": "a",
}


def upgrade() -> None:
    rewrite("history", ("run", "version"), "body", changes_as_msgpack)
    rewrite("steps", ("run", "execution_id"), "body", execution_as_msgpack)
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


def changes_as_msgpack(body: bytes) -> bytes:
    changes = msgspec.json.decode(body)
    for change in changes:
        if change[0] == "step_queued":
            change[1] = _shortened(change[1])
    return msgspec.msgpack.encode(changes)


def execution_as_msgpack(body: bytes) -> bytes:
    return msgspec.msgpack.encode(_shortened(msgspec.json.decode(body)))


def _shortened(execution: dict[str, Any]) -> dict[str, Any]:
    return {_SHORT.get(name, name): value for name, value in execution.items()}
