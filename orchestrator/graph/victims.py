"""Whether a cancelled execution can hold a token (TOK007)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.graph.section import Finding
from orchestrator.graph.seeding import Held


def cancelled_holders(held: Held) -> Iterator[Finding]:
    """TOK007. What a step took in its own wait comes back when it is cancelled; other tokens do not."""
    for cancel in held.cancels:
        victims = [victim for victim in cancel.victims if victim in held.held_on_entry]
        if not victims or _holds_all(held, cancel.step):
            continue
        names = " or ".join(f"`{victim}`" for victim in victims)
        message = f"{cancel.who} may cancel {names} while it holds `{held.channel}`: nobody gives it back"
        also = tuple((t.condition.path, "token taken here") for t in held.usage.takers[:1])
        yield Finding("TOK007", message, cancel.path, cancel.is_key, also, cancel.step or "")


def cancels_holders(held: Held, step: str, number: int) -> bool:
    """Whether this decision of the step cancels steps of the section."""
    return any(
        cancel.step == step
        and cancel.number in (0, number)
        and any(victim in held.held_on_entry or victim in held.holders for victim in cancel.victims)
        for cancel in held.cancels
    )


def _holds_all(held: Held, step: str | None) -> bool:
    """The canceller has all tokens itself, so that no other execution can hold one."""
    if step is None:
        return False
    counts = [
        count
        for spot, visit in held.lineages.visits.items()
        if spot.step == step
        for count in visit.executing
    ]
    return bool(counts) and min(counts) >= held.capacity
