"""The outside system of job posts (flows/products/job_post.flow.yaml)."""

from __future__ import annotations

from typing import TypedDict

from orchestrator import Context


class JobUpdate(TypedDict):
    title: str
    description: str
    notes: str


def update_externally(ctx: Context, update: JobUpdate) -> None:
    """A real one writes by the flow id, so that a repeated call does no harm."""
    ctx.logger.info("post %s is now %r", ctx.flow_id, update["title"])
