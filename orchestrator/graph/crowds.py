"""Which steps can have several executions at the same time, each in a branch of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from orchestrator.definition.model import Flow
from orchestrator.graph.counts import size_of_list
from orchestrator.graph.lineages import ways_on
from orchestrator.graph.query import movements_of, with_otherwise


class Ways:
    """The steps of a flow and how they lead to each other, over movements and failure routes."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._before: dict[str, set[str]] = {}
        self._after: dict[str, set[str]] = {}
        for step in flow.steps.values():
            for source, target in ways_on(step):
                self._before.setdefault(target, set()).add(source)
                self._after.setdefault(source, set()).add(target)

    def leading_to(self, steps: Iterable[str]) -> set[str]:
        """These, and every step from which one of them can be reached."""
        return _spread(steps, self._before)

    def reached_from(self, steps: Iterable[str]) -> set[str]:
        """These, and every step that can be reached from one of them."""
        return _spread(steps, self._after)

    def is_crowded(self, steps: Collection[str]) -> bool:
        """Whether two executions of these steps can be active at once: after a fan-out, or by an RPC."""
        leading = self.leading_to(steps)
        for rpc in self._flow.rpcs.values():
            for _, decision, _ in with_otherwise(rpc.decisions):
                if any(movement.step in leading for movement in movements_of(decision)):
                    return True
        for step in self._flow.steps.values():
            for _, decision, _ in with_otherwise(step.decisions):
                movements = [m for m in movements_of(decision) if m.step in leading]
                is_repeated = any(m.for_each and size_of_list(m.for_each) not in (0, 1) for m in movements)
                if is_repeated or len(movements) > 1:
                    return True
        return False


def _spread(steps: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found = set(steps)
    left = list(found)
    while left:
        for step in edges.get(left.pop(), ()):
            if step not in found:
                found.add(step)
                left.append(step)
    return found
