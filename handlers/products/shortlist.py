"""Mails to shortlisted candidates (flows/products/shortlist.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context, NotFound


@dataclass(frozen=True)
class Entry:
    employer: str
    candidate: str


def check_opt_in(ctx: Context, entry: Entry) -> bool:
    """Asks the run of flow type EmployerOptIn; an employer without one never opted in."""
    try:
        return bool(ctx.client.rpc(f"opt-in-{entry.employer}", "is_opted_in"))
    except NotFound:
        return False


def send_email(ctx: Context, entry: Entry) -> None:
    ctx.logger.info(
        "mail to %s: %s is interested, key %s", entry.candidate, entry.employer, ctx.idempotency_key
    )
