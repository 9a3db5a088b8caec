"""What stands still until somebody lifts a pause, or the limit of a queue with concurrency 0."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from orchestrator.core.pauses import Pauses
from orchestrator.engine.definitions import Definitions
from orchestrator.engine.explain.explaining import resume_flow
from orchestrator.engine.explain.explanation import Advice, ExplainedExecution, Explanation
from orchestrator.engine.explain.queued import read_lines
from orchestrator.engine.explain.stored import explain_stored
from orchestrator.engine.explain.summary import held_back_words, joined, paused_words
from orchestrator.store.contract import Head, Reading


class Hold(NamedTuple):
    text: str
    """What is held, and by what."""
    help: tuple[Advice, ...]
    """What lets it go on."""


def may_hold(pauses: Pauses, reading: Reading) -> bool:
    """At little cost: False where nothing is paused and no queue is shut."""
    return bool(pauses) or any(queue.settings.concurrency == 0 for queue in reading.find_queues())


def find_hold(reading: Reading, definitions: Definitions, head: Head, now: datetime) -> Hold | None:
    """None while anything of the run, or of the runs it waits for, goes on, or nothing of them is held."""
    search = _Search(reading, definitions, now)
    search.look_at(head)
    if search.goes_on or not search.clauses:
        return None
    return Hold(joined(list(search.clauses)), tuple(search.help))


class _Search:
    def __init__(self, reading: Reading, definitions: Definitions, now: datetime) -> None:
        self._reading = reading
        self._definitions = definitions
        self._now = now
        self._lines = read_lines(reading, now)
        self._seen: set[str] = set()
        self.goes_on = False
        self.clauses: dict[str, None] = {}
        self.help: dict[Advice, None] = {}

    def look_at(self, head: Head) -> None:
        """At the run, then at those that it waits for."""
        explained = explain_stored(self._reading, self._definitions, head, self._now)
        owner = f" of {head.flow_id}" if self._seen else ""
        self._seen.add(head.flow_id)
        held: list[ExplainedExecution] = []
        for execution in explained.active:
            if self._is_held(explained.flow, execution):
                held.append(execution)
            elif self._is_under_way(execution):
                self.goes_on = True
                return
        self._note(explained.flow, held, owner)
        for flow_id in _awaited(explained):
            child = self._reading.find_latest(flow_id)
            if child is not None and flow_id not in self._seen and not self.goes_on:
                self.look_at(child)

    def _is_held(self, flow: str, execution: ExplainedExecution) -> bool:
        if execution.paused:
            return execution.phase != "waiting" or self._is_due(execution)
        return execution.held_back is not None and self._lines.is_shut(flow, execution.step)

    def _is_under_way(self, execution: ExplainedExecution) -> bool:
        return execution.phase == "running" or (self._is_due(execution) and not execution.paused)

    def _is_due(self, execution: ExplainedExecution) -> bool:
        return execution.due_at is not None and execution.due_at <= self._now

    def _note(self, flow: str, held: list[ExplainedExecution], owner: str) -> None:
        paused = [each.step_execution_id for each in held if each.paused]
        if paused:
            self.clauses[paused_words(paused, owner)] = None
        by_reason: dict[str, list[str]] = {}
        for each in held:
            if not each.paused and each.held_back is not None:
                by_reason.setdefault(each.held_back, []).append(each.step_execution_id)
        for reason, ids in by_reason.items():
            self.clauses[held_back_words(ids, reason, owner)] = None
        for each in held:
            self.help |= dict.fromkeys(each.help or (resume_flow(flow),))


def _awaited(explained: Explanation) -> Iterator[str]:
    for execution in explained.active:
        for condition in execution.wait.conditions if execution.wait is not None else ():
            if condition.subflow is not None and not condition.holds:
                yield condition.subflow
