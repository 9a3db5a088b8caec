"""Child runs within a limit (flows/patterns/resource_control.flow.yaml and its child)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from orchestrator import Context, NotActive


@dataclass(frozen=True)
class Request:
    name: str


@dataclass(frozen=True)
class Job:
    name: str
    controller: str


# --- The controller ---


def start_child(ctx: Context, request: Request) -> str:
    """The child and the request id are the same in every attempt, so one child is started."""
    child = f"{ctx.flow_id}-{ctx.step_execution_id}"
    job = {"name": request.name, "controller": ctx.flow_id}
    ctx.client.start("ResourceControlChild", child, job, request_id=ctx.idempotency_key, return_existing=True)
    return child


# --- The child ---


def start_validation(ctx: Context, job: Job) -> None:
    """Asks the validation service to begin."""
    ctx.logger.info("validation of %s begins", job.name)


def start_gpu(ctx: Context, job: Job) -> None:
    """Asks the GPU cluster to begin."""
    ctx.logger.info("GPU work for %s begins", job.name)


def report_to_controller(ctx: Context, job: Job) -> None:
    """A controller that is closed needs no report."""
    with suppress(NotActive):
        ctx.client.rpc(job.controller, "complete_child", ctx.flow_id, request_id=ctx.idempotency_key)
