"""A job on a schedule (flows/patterns/cron.flow.yaml)."""

from __future__ import annotations

from orchestrator import Context


def run_job(ctx: Context, is_last: bool) -> None:
    ctx.record_event("job_done", {"is_last": is_last})
