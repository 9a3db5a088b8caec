"""Active executions by what is cancelled at once: a step, what one execution started, a round.

Most runs cancel nothing. So groups are made when they are asked for first, and kept up from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from orchestrator.core.state import Execution, Run


class Groups(Struct):
    """Ids, in each group in the order in which they were queued."""

    by_step: dict[str, dict[str, None]] = field(default_factory=dict)
    by_origin: dict[str, dict[str, None]] = field(default_factory=dict)
    by_round: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, execution: Execution) -> None:
        self.by_step.setdefault(execution.step, {})[execution.id] = None
        self.by_origin.setdefault(execution.origin, {})[execution.id] = None
        for place in execution.line:
            self.by_round.setdefault(place.round, {})[execution.id] = None

    def remove(self, execution: Execution) -> None:
        _remove(self.by_step, execution.step, execution.id)
        _remove(self.by_origin, execution.origin, execution.id)
        for place in execution.line:
            _remove(self.by_round, place.round, execution.id)


def groups_of(run: Run) -> Groups:
    """Costs in proportion to the active executions once, then nothing."""
    if run.groups is None:
        run.groups = Groups()
        for execution in run.executions.values():
            run.groups.add(execution)
    return run.groups


def _remove(groups: dict[str, dict[str, None]], name: str, member: str) -> None:
    members = groups[name]
    del members[member]
    if not members:
        del groups[name]
