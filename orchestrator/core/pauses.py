"""What is paused: of these flow types, or of these steps, nothing is begun until they are resumed.

Nothing is lost by it and no attempt is consumed: work stays queued, messages are kept, timers that come due
fire after the resumption. What clients do (messages, RPCs, stops) takes effect at once, with a decision
without handler that belongs to the same commit.
"""

from __future__ import annotations

from msgspec import Struct


class Pauses(Struct, frozen=True):
    """Pairs of flow type and step; without a step: the whole flow type. False when empty."""

    targets: frozenset[tuple[str, str | None]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.targets)

    def covers(self, flow: str, step: str) -> bool:
        return (flow, None) in self.targets or (flow, step) in self.targets

    def covers_flow(self, flow: str) -> bool:
        return (flow, None) in self.targets


NO_PAUSES = Pauses()
