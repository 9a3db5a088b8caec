"""Revisions, found by alembic; PostgreSQL came with version 3."""
