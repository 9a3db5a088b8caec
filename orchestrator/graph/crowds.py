"""Which steps can have several executions at the same time, each in a branch of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from orchestrator.definition.model import Flow, Movement, Rpc
from orchestrator.graph.counts import size_of_list
from orchestrator.graph.paths import Paths, decisions_of, reach
from orchestrator.graph.query import movements_of


class Crowds:
    """Of one flow. Loops alone make no crowd: their executions come one after the other."""

    def __init__(self, flow: Flow, paths: Paths) -> None:
        self._flow = flow
        self.paths = paths

    @cached_property
    def before(self) -> Mapping[str, list[str]]:
        """The steps that lead to a step at once."""
        before: dict[str, list[str]] = {}
        for source, targets in self.paths.edges.items():
            for target in targets:
                before.setdefault(target, []).append(source)
        return before

    @cached_property
    def roots(self) -> tuple[Movement, ...]:
        """Movements that start a run's first step, and those of RPCs and of the timeout handler."""
        start = (Movement(self._flow.start, path=("start",)),) if self._flow.start is not None else ()
        outside = [m for element, _, movements in self._moves if element is not None for m in movements]
        return (*start, *outside)

    @cached_property
    def _moves(self) -> list[tuple[str | None, bool, tuple[Movement, ...]]]:
        """Of each decision that makes any: whose it is when no step takes it, whether an RPC does, which."""
        found = []
        for element, decision in decisions_of(self._flow):
            movements = movements_of(decision)
            if movements:
                is_step = self._flow.steps.get(element.name) is element
                found.append((None if is_step else element.name, isinstance(element, Rpc), movements))
        return found

    def leading_to(self, steps: Iterable[str]) -> frozenset[str]:
        """These, and every step from which one of them can be reached."""
        return reach(self.before, steps)

    def reached_from(self, steps: Iterable[str]) -> frozenset[str]:
        """These, and every step that can be reached from one of them."""
        return reach(self.paths.edges, steps)

    def has(self, steps: Iterable[str]) -> bool:
        """Whether two executions of these steps can be active at once: after a fan-out, or by an RPC."""
        leading = self.leading_to(steps)
        for _, is_rpc, all_movements in self._moves:
            movements = [movement for movement in all_movements if movement.step in leading]
            if movements and (is_rpc or len(movements) > 1 or is_repeated(movements[0])):
                return True
        return False

    def can_overlap(self, one: str, other: str) -> bool:
        """Whether an execution of one step can be active while another, of the same or the other, is."""
        to_one, to_other = self.leading_to([one]), self.leading_to([other])
        for _, is_rpc, movements in self._moves:
            if is_rpc and any(m.step in to_one or m.step in to_other for m in movements):
                return True
            for movement in movements:
                rivals = movements if is_repeated(movement) else [m for m in movements if m is not movement]
                if movement.step in to_one and any(rival.step in to_other for rival in rivals):
                    return True
        return False


def is_repeated(movement: Movement) -> bool:
    """Whether it may start several executions."""
    return movement.for_each is not None and size_of_list(movement.for_each) not in (0, 1)
