"""How a claim is shared between work that is ready and work that has become due."""

from __future__ import annotations

from itertools import count

_claims = count(1)


def due_share(limit: int) -> int:
    """Half of it; the odd one every other time."""
    return (limit + next(_claims) % 2) // 2
