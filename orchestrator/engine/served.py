"""Which work a worker takes: all of it, or that of its queues.

A queue is a flow type, `Order`, or one of its steps, `Order/Charge`. Handlers of other work are not called,
and of other flows not even imported; what needs no handler is done by whoever comes to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import Flow
from orchestrator.errors import UsageError

_QUEUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)?\Z", re.ASCII)
DEADLINE = "on_timeout"
"""The name of a flow's timeout handler, as a step of a queue."""


@dataclass(frozen=True)
class Served:
    whole: frozenset[str]
    """Flow types of which everything is taken."""
    steps: frozenset[tuple[str, str]]
    """Flow type and step."""

    @property
    def flows(self) -> frozenset[str]:
        """Flow types of which anything is taken."""
        return self.whole | {flow for flow, _ in self.steps}

    def has(self, flow: str, step: str) -> bool:
        return flow in self.whole or (flow, step) in self.steps

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
            raise UsageError(f"`{queue}` is not a queue: a queue is a flow type, FLOW, or a step, FLOW/STEP")
        flow, _, step = queue.partition("/")
        if step:
            steps.add((flow, TIMEOUT_STEP if step == DEADLINE else step))
        else:
            whole.add(flow)
    return Served(frozenset(whole), frozenset(steps)) if whole or steps else None
