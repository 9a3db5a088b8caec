"""A run under the names of the new definition, and which of its executions are no longer what they were."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from orchestrator.core.image import image_of, restore
from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.fitting import filled
from orchestrator.core.migration.methods import find_options_path
from orchestrator.core.migration.renaming import DROPPED
from orchestrator.core.state import (
    TIMEOUT_STEP,
    BranchRef,
    BranchReport,
    ConditionResult,
    Execution,
    PendingCondition,
    QueuedMessage,
    Round,
    Run,
    Wait,
)


class Rewriting:
    """`run`: the new one, without indexes. `moved`: new execution ids by old, of those that differ."""

    def __init__(self, case: Comparison, run: Run) -> None:
        self._case = case
        self._names = case.renaming
        self._old = run
        self._offsets = _offsets(case, run)
        self.run = Run(run.flow_id, run.run_id)
        restore(self.run, image_of(run))
        self.run.input, self.run.started_at = run.input, run.started_at
        self._rewrite()
        self.is_void = image_of(self.run) == image_of(run)

    def _rewrite(self) -> None:
        run = self.run
        run.counters = self._counters()
        made = [(execution, self._execution(execution)) for execution in self._old.executions.values()]
        self.moved = {before.id: after.id for before, after in made if before != after}
        # Those that are written anew stand last, as their rows do.
        made.sort(key=lambda pair: pair[0].id in self.moved)
        run.executions = {after.id: after for _, after in made}
        run.skips = {
            self._id(execution_id): tuple(self._skip(execution_id, each) for each in skips)
            for execution_id, skips in run.skips.items()
        }
        self._rewrite_holdings()

    def _rewrite_holdings(self) -> None:
        run, new = self.run, self._case.new
        run.queues = {
            (name, key): deque(QueuedMessage(m.seq, filled(m.value, new.channels[name].type)) for m in queue)
            for (old_name, key), queue in run.queues.items()
            if (name := self._names.channel(old_name)) != DROPPED
        }
        run.dropped_count = {self._names.channel(n) or n: count for n, count in run.dropped_count.items()}
        run.attributes = {
            name: filled(value, new.attributes[name].type)
            for old_name, value in run.attributes.items()
            if (name := self._names.attribute(old_name)) != DROPPED
        }
        run.attribute_maps = {
            name: {key: filled(value, new.attributes[name].type) for key, value in entries.items()}
            for old_name, entries in run.attribute_maps.items()
            if (name := self._names.attribute(old_name)) in new.attributes
        }
        run.rounds = {self._round_id(name): self._round(round) for name, round in run.rounds.items()}

    def _round(self, round: Round) -> Round:
        join = self._names.join(round.join)
        type = self._case.new.joins[join].type
        reports = [BranchReport(each.branch, filled(each.value, type)) for each in round.reports]
        counters = (round.branch_count, round.counting, round.missed, round.members, round.is_cancelled)
        return Round(join, *counters, reports)

    # --- Names ---

    def _counters(self) -> dict[str, int]:
        """A step that takes another's place counts on where it is."""
        counters: dict[str, int] = {}
        for step, count in self._old.counters.items():
            name = self._names.step(step)
            counters[name] = max(counters.get(name, 0), self._offsets.get(step, 0) + count)
        return counters

    def _id(self, execution_id: str) -> str:
        """Also of executions that have ended."""
        step, _, number = execution_id.rpartition("-")
        if step not in self._names.steps:
            return execution_id
        return f"{self._names.step(step)}-{int(number) + self._offsets.get(step, 0)}"

    def _round_id(self, round: str) -> str:
        join, slash, opener = round.partition("/")
        return f"{self._names.join(join)}{slash}{opener}"

    def _lock(self, lock: str) -> str:
        attribute, slash, key = lock.partition("/")
        return f"{self._names.attribute(attribute)}{slash}{key}"

    def _skip(self, execution_id: str, condition: str | int | None) -> str | int | None:
        step = execution_id.rpartition("-")[0]
        return self._names.condition(step, condition) if isinstance(condition, str) else condition

    # --- Executions ---

    def _execution(self, execution: Execution) -> Execution:
        if execution.step == TIMEOUT_STEP:
            return execution
        step = self._names.step(execution.step)
        target = self._case.new.steps[step]
        path = execution.options_path
        return replace(
            execution,
            step=step,
            number=execution.number + self._offsets.get(execution.step, 0),
            origin=self._id(execution.origin),
            input=filled(execution.input, target.input),
            wait=self._wait(execution.step, execution.wait) if execution.wait is not None else None,
            line=tuple(BranchRef(self._round_id(place.round), place.branch) for place in execution.line),
            faces={self._names.join(j): self._round_id(round) for j, round in execution.faces.items()},
            locks=tuple(map(self._lock, execution.locks)),
            wanted_locks=tuple(map(self._lock, execution.wanted_locks)),
            options_path=None if path is None else find_options_path(self._case, path, execution.step),
        )

    def _wait(self, step: str, wait: Wait) -> Wait:
        conditions = tuple(self._condition(step, each) for each in wait.conditions)
        results = wait.results
        if results is not None:
            results = tuple(map(self._result, conditions, results))
        return replace(wait, conditions=conditions, results=results)

    def _result(self, condition: PendingCondition, result: ConditionResult) -> ConditionResult:
        """What it took, with the defaults of its new type."""
        messages, reports, new = result.messages, result.reports, self._case.new
        if messages and condition.channel is not None and condition.channel in new.channels:
            type = new.channels[condition.channel].type
            messages = tuple(QueuedMessage(m.seq, filled(m.value, type)) for m in messages)
        join = condition.round.partition("/")[0] if condition.round is not None else ""
        if reports and join in new.joins:
            reports = tuple(BranchReport(r.branch, filled(r.value, new.joins[join].type)) for r in reports)
        return replace(result, messages=messages, reports=reports)

    def _condition(self, step: str, condition: PendingCondition) -> PendingCondition:
        channel, round = condition.channel, condition.round
        return replace(
            condition,
            id=self._names.condition(step, condition.id),
            channel=None if channel is None else self._names.channel(channel) or channel,
            round=None if round is None else self._round_id(round),
        )


def _offsets(case: Comparison, run: Run) -> dict[str, int]:
    """What is added to the numbers of a step whose new name has been used in this run before."""
    offsets: dict[str, int] = {}
    used: dict[str, int] = {n: count for n, count in run.counters.items() if n not in case.renaming.steps}
    for step, name in case.renaming.steps.items():
        offsets[step] = used.get(name, 0)
        used[name] = offsets[step] + run.counters.get(step, 0)
    return offsets
