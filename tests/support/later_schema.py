"""A release that is not there yet: this one, with one more revision of the schema."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orchestrator.store.migrations import SCHEMA_VERSION

LATER = SCHEMA_VERSION + 1
_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "{later}"
down_revision = "{now}"


def upgrade():
{body}
"""


def become(monkeypatch: pytest.MonkeyPatch, directory: Path, body: str) -> None:
    """`body`: statements of its upgrade."""
    from orchestrator.store.migrations import running

    versions = directory / "versions"
    shutil.copytree(running.PLACE / "versions", versions)
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    text = _REVISION.format(later=LATER, now=SCHEMA_VERSION, body=indented)
    (versions / f"v{LATER}_later.py").write_text(text)
    monkeypatch.setattr(running, "PLACE", directory)
    for module in ("sqlite_file", "postgres_database"):
        monkeypatch.setattr(f"orchestrator.store.{module}.SCHEMA_VERSION", LATER)
