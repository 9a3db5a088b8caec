"""Where the releases begin: their databases were made at once."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """There was nothing before."""
