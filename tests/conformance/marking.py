"""What a run's state is in the oracle's words, and whether the oracle's model can go from one to another."""

from __future__ import annotations

from collections import Counter

from orchestrator.core.state import Execution, Phase, Run
from tests.oracle.model import STATUSES, Model
from tests.oracle.spin import Space, State

_LONGEST_COMMIT = 12
"""Events of the model that one commit may hold: what a decision publishes can satisfy waits at once."""


def marking_of(run: Run, model: Model) -> State:
    counts: Counter[str] = Counter()
    if run.status == "RUNNING":  # what was active when a run closed plays no part any more
        counts.update(_place(execution, model) for execution in run.executions.values())
    for (channel, _), messages in run.queues.items():
        counts[f"channel_{channel}"] += len(messages)
    for name in model.attributes:
        counts[f"attribute_{name}"] = int(run.attributes.get(name) is True)
    counts.update({f"budget_{name}": count for name, count in model.budgets.items()})
    counts["graceful"] = int(run.is_completing)
    counts["status"] = STATUSES.index(run.status.lower())
    return tuple(counts[name] for name in model.variables)


def _place(execution: Execution, model: Model) -> str:
    if execution.phase is not Phase.EXECUTE:
        return f"waiting_{execution.step}"
    wait = execution.wait
    results = wait.results if wait is not None and wait.results is not None else ()
    conditions = wait.conditions if wait is not None else ()
    winners = frozenset(
        condition.id for condition, result in zip(conditions, results, strict=False) if result.is_satisfied
    )
    taken: Counter[str] = Counter()
    for condition, result in zip(conditions, results, strict=False):
        if condition.channel is not None and result.messages:
            taken[condition.channel] += len(result.messages)
    return model.place_after(execution.step, winners, taken).name


def accepts(space: Space, before: State, after: State) -> bool:
    """Can the model's events lead from one to the other, as one commit?"""
    seen, layer = {before}, {before}
    for _ in range(_LONGEST_COMMIT):
        if after in layer:
            return True
        layer = {next for state in layer for next in space.successors.get(state, ())} - seen
        seen |= layer
    return False


def shown(state: State, model: Model) -> str:
    return ", ".join(f"{name}={count}" for name, count in zip(model.variables, state, strict=True) if count)
