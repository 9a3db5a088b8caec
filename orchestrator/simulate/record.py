"""A simulated run and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.core.changes import Change, StepEnded
from orchestrator.core.events import Event
from orchestrator.core.state import TIMEOUT_STEP, Phase, Run
from orchestrator.definition.model import Flow
from orchestrator.simulate.script import ON_TIMEOUT


@dataclass(frozen=True, slots=True)
class Commit:
    at: datetime
    event: Event
    changes: tuple[Change, ...]


@dataclass(slots=True)
class SimulatedRun:
    flow: Flow
    run: Run
    commits: list[Commit] = field(default_factory=list)
    in_flight: set[tuple[str, Phase, int]] = field(default_factory=set)
    """Calls whose virtual time is not over: execution id, phase, attempt."""

    def completed(self) -> list[str]:
        """Executions in the order their Execute was committed."""
        return [
            shown_id(change.execution_id)
            for commit in self.commits
            for change in commit.changes
            if isinstance(change, StepEnded) and change.how == "completed"
        ]


def shown_id(execution_id: str) -> str:
    """The timeout handler goes by the name it has in the definition."""
    return ON_TIMEOUT if execution_id == f"{TIMEOUT_STEP}-1" else execution_id


def step_of_id(execution_id: str) -> str:
    return ON_TIMEOUT if execution_id == ON_TIMEOUT else execution_id.rpartition("-")[0]
