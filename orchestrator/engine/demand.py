"""Whether there may be work to claim."""

from __future__ import annotations


class Demand:
    """What is asked for while a claim is under way may be missed by it, and is looked for again."""

    def __init__(self) -> None:
        self.is_there = False
        self._asked_count = 0
        self._asked_before_claim = 0

    def ask(self) -> None:
        """Something may have come, or become due."""
        self._asked_count += 1
        self.is_there = True

    def begin_claim(self) -> None:
        self._asked_before_claim = self._asked_count

    def note(self, has_more: bool) -> None:
        """What a claim, or a commit that left work, has found."""
        self.is_there = has_more or self._asked_count != self._asked_before_claim
