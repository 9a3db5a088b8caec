"""Which work a worker takes: all of it, or that of its queues.

What is named is a queue (store/queues.py), a flow type, `Order`, or one of its steps, `Order/Charge`.
Handlers of other work are not called, and of other flows not even imported; what needs no handler is done by
whoever comes to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Flow
from orchestrator.errors import UsageError
from orchestrator.store.queues import DEADLINE, Queues

_QUEUE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*|[A-Za-z_][A-Za-z0-9_]*/[A-Za-z_][A-Za-z0-9_]*)\Z", re.ASCII)


@dataclass(frozen=True)
class Served:
    whole: frozenset[str]
    """Queues, and flow types of which everything is taken: what has no slash."""
    steps: frozenset[tuple[str, str]]
    """Flow type and step."""

    @property
    def flows(self) -> frozenset[str]:
        """Flow types of which anything is taken."""
        return self.whole | {flow for flow, _ in self.steps}

    def has(self, flow: str, step: str) -> bool:
        return flow in self.whole or (flow, step) in self.steps

    def names(self, queues: Queues, number: int) -> bool:
        """Is all of this queue taken, because it, or the one that it stands within, is named?"""
        return any(each.name in self.whole for each in queues.chain(number))

    def is_of_queues(self, queues: Queues) -> bool:
        """Are only queues named?"""
        return not self.steps and all(queues.named(name) is not None for name in self.whole)

    def as_text(self) -> str:
        steps = (f"{flow}/{DEADLINE if step == TIMEOUT_STEP else step}" for flow, step in self.steps)
        return ",".join(sorted([*self.whole, *steps]))

    def left_of(self, flow: Flow) -> list[str]:
        """What a claim leaves of a definition to others: its hash for all of it, else `hash/step`."""
        if flow.name in self.whole:
            return []
        if flow.name not in self.flows:
            return [flow.hash]
        steps = [*flow.steps, TIMEOUT_STEP]
        return [f"{flow.hash}/{step}" for step in steps if not self.has(flow.name, step)]


def read_queues(queues: Iterable[str]) -> Served | None:
    """None: nothing is named, everything is taken. Raises UsageError."""
    whole: set[str] = set()
    steps: set[tuple[str, str]] = set()
    for queue in queues:
        if _QUEUE.match(queue) is None:
            raise UsageError(
                f"`{queue}` is not a queue: name one of `orchestrator queues list`, a flow type, FLOW, "
                "or a step, FLOW/STEP"
            )
        flow, _, step = queue.partition("/")
        if step:
            steps.add((flow, TIMEOUT_STEP if step == DEADLINE else step))
        else:
            whole.add(flow)
    return Served(frozenset(whole), frozenset(steps)) if whole or steps else None
