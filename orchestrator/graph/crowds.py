"""Which steps can have several executions at the same time, each in a branch of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from orchestrator.definition.model import Flow, Rpc
from orchestrator.graph.counts import size_of_list
from orchestrator.graph.paths import Paths, decisions_of, reach
from orchestrator.graph.query import movements_of


class Crowds:
    """Of one flow. Loops alone make no crowd: their executions come one after the other."""

    def __init__(self, flow: Flow, paths: Paths) -> None:
        self._flow = flow
        self._edges = paths.edges

    @cached_property
    def _before(self) -> Mapping[str, list[str]]:
        before: dict[str, list[str]] = {}
        for source, targets in self._edges.items():
            for target in targets:
                before.setdefault(target, []).append(source)
        return before

    def leading_to(self, steps: Iterable[str]) -> frozenset[str]:
        """These, and every step from which one of them can be reached."""
        return reach(self._before, steps)

    def reached_from(self, steps: Iterable[str]) -> frozenset[str]:
        """These, and every step that can be reached from one of them."""
        return reach(self._edges, steps)

    def has(self, steps: Iterable[str]) -> bool:
        """Whether two executions of these steps can be active at once: after a fan-out, or by an RPC."""
        leading = self.leading_to(steps)
        for element, decision in decisions_of(self._flow):
            movements = [movement for movement in movements_of(decision) if movement.step in leading]
            is_repeated = any(m.for_each and size_of_list(m.for_each) not in (0, 1) for m in movements)
            if is_repeated or len(movements) > 1 or (movements and isinstance(element, Rpc)):
                return True
        return False

    def can_overlap(self, one: str, other: str) -> bool:
        """Whether an execution of one step can be active while another, of the same or the other, is."""
        to_one, to_other = self.leading_to([one]), self.leading_to([other])
        for element, decision in decisions_of(self._flow):
            movements = movements_of(decision)
            if isinstance(element, Rpc) and any(m.step in to_one or m.step in to_other for m in movements):
                return True
            for movement in movements:
                is_repeated = movement.for_each and size_of_list(movement.for_each) not in (0, 1)
                rivals = movements if is_repeated else [m for m in movements if m is not movement]
                if movement.step in to_one and any(rival.step in to_other for rival in rivals):
                    return True
        return False
