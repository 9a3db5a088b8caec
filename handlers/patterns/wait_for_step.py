"""A slow system beside the run (flows/patterns/wait_for_step.flow.yaml)."""

from __future__ import annotations

from typing import TypedDict

from orchestrator import Context


class JobSeeker(TypedDict):
    id: int
    name: str


def update_external_system(ctx: Context, job_seeker: JobSeeker) -> None:
    ctx.logger.info("job seeker %d goes to the other system", job_seeker["id"])
