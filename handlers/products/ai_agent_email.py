"""An agent that writes e-mails (flows/products/ai_agent_email.flow.yaml)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from orchestrator import Context

_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+\w")


@dataclass(frozen=True)
class Draft:
    recipient: str = ""
    subject: str = ""
    body: str = ""
    send_after: str = "5s"
    is_cancelled: bool = False


def answer_user(ctx: Context) -> Draft:
    """A real one asks a language model; this one finds an address and takes the text as it is."""
    request: str = ctx.wait["userInput"].message
    draft = Draft(**ctx.attributes["draft"])
    if "cancel" in request.lower():
        return replace(draft, is_cancelled=True)
    address = _ADDRESS.search(request)
    return replace(
        draft,
        recipient=address.group() if address else draft.recipient,
        subject=draft.subject or request.partition("\n")[0],
        body=request,
    )


def send_email(ctx: Context) -> bool:
    """Whether it was sent; without credentials nothing is. A real one gives the idempotency key along."""
    if "EMAIL_PASSWORD" not in os.environ:
        return False
    ctx.logger.info("sent to %s: %s", ctx.attributes["draft"]["recipient"], ctx.idempotency_key)
    return True
