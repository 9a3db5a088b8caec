"""Requests spread over parents with child runs (flows/patterns/scalable_parallel*.flow.yaml)."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass

from orchestrator import Context, NotActive, NotFound


@dataclass(frozen=True)
class Request:
    name: str
    parent_count: int
    seconds: float


@dataclass(frozen=True)
class Work:
    name: str
    seconds: float


@dataclass(frozen=True)
class Job:
    parent: str
    seconds: float


class ParentIsFull(Exception):
    """Fails the attempt; the next one asks another parent."""


# --- The receiver ---


def hand_over(ctx: Context, request: Request) -> str:
    """The parent that has the request now. A parent that is not there, or has completed, is started with it.

    When two receivers start the same parent one of them fails, and asks again in its next attempt.
    """
    parent = f"parent-{random.randrange(request.parent_count)}"
    work = {"name": request.name, "seconds": request.seconds}
    try:
        is_accepted = ctx.client.rpc(parent, "enqueue", work)
    except (NotFound, NotActive):
        ctx.client.start(
            "ScalableParallelParent",
            parent,
            work,
            reuse_policy="allow_if_no_running",
            request_id=ctx.idempotency_key,
            return_existing=True,
        )
        return parent
    if not is_accepted:
        raise ParentIsFull(f"{parent} takes no more requests now")
    return parent


# --- A parent ---


def start_child(ctx: Context, work: Work) -> str:
    """The run id keeps the children of a parent apart that was started anew under its flow id."""
    child = f"{ctx.flow_id}-{ctx.run_id}-{ctx.step_execution_id}"
    job = {"parent": ctx.flow_id, "seconds": work.seconds}
    ctx.client.start(
        "ScalableParallelChild", child, job, request_id=ctx.idempotency_key, return_existing=True
    )
    return child


# --- A child ---


def report_to_parent(ctx: Context, job: Job) -> None:
    """A parent that is closed needs no report."""
    with suppress(NotActive):
        ctx.client.rpc(job.parent, "complete_child", ctx.flow_id, request_id=ctx.idempotency_key)
