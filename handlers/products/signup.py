"""Mails to new users (flows/products/signup.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Form:
    username: str
    email: str


def send_verification_mail(ctx: Context, form: Form) -> None:
    """The link in it calls the RPC `verify` of this run."""
    ctx.logger.info("mail to %s: please verify, flow %s", form.email, ctx.flow_id)


def send_welcome_mail(ctx: Context, form: Form) -> None:
    ctx.logger.info("mail to %s: welcome, %s", form.email, form.username)
