"""A run that holds a part of a state, for the core to decide on, and what has become of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from orchestrator.core.evolve import rebuild_indexes
from orchestrator.core.state import (
    TIMEOUT_ID,
    BranchReport,
    Execution,
    QueuedMessage,
    QueueKey,
    Round,
    Run,
    Wait,
)
from orchestrator.definition.model import Flow
from orchestrator.verify.places import NOW, Place, Places
from orchestrator.verify.relevance import Relevance
from orchestrator.verify.state import Counts, RoundCount, State
from orchestrator.verify.unknown import Frozen, Unknown, freeze, thaw

_FAMILY = "family "
_OLD = 1_000_000
"""Numbers of executions that are new in a probe begin here."""


class Reading(NamedTuple):
    """A run as a state sees it."""

    places: Counter[int]
    whereabouts: dict[str, int]
    """The place of each execution."""
    queues: Counter[int]
    data: tuple[Frozen, ...]
    rounds: tuple[RoundCount, ...]


class Prober:
    """Numbers the places and queues that it meets."""

    def __init__(self, flow: Flow, relevance: Relevance, places: Places) -> None:
        self._flow = flow
        self._relevance = relevance
        self._places = places
        self._attributes = sorted(relevance.attributes)
        self.places: list[Place] = []
        self.queues: list[QueueKey] = []
        self._place_numbers: dict[Place, int] = {}
        self._queue_numbers: dict[QueueKey, int] = {}

    def number(self, place: Place) -> int:
        found = self._place_numbers.get(place)
        if found is None:
            found = self._place_numbers[place] = len(self.places)
            self.places.append(place)
        return found

    def queue_number(self, key: QueueKey) -> int:
        found = self._queue_numbers.get(key)
        if found is None:
            found = self._queue_numbers[key] = len(self.queues)
            self.queues.append(key)
        return found

    def freeze(self, execution: Execution) -> Place:
        return self._places.freeze(execution)

    def build(
        self, state: State, actor: Place | None, others: Iterable[tuple[Place, int]], queues: Counts
    ) -> Run:
        """The actor comes first."""
        run = Run(flow_id="run", run_id="run", started_at=NOW, next_seq=_OLD, next_order=1)
        numbers: Counter[str] = Counter()
        if actor is not None:
            self._add(run, numbers, actor)
        for place, count in others:
            for _ in range(count):
                self._add(run, numbers, place)
        run.counters = dict.fromkeys(self._flow.steps, _OLD)
        self._fill(run, state, queues)
        rebuild_indexes(run)
        return run

    def _add(self, run: Run, numbers: Counter[str], place: Place) -> None:
        numbers[place.step] += 1
        execution = self._places.thaw(place, numbers[place.step])
        run.executions[execution.id] = execution

    def _fill(self, run: Run, state: State, queues: Counts) -> None:
        for number, count in queues:
            key = self.queues[number]
            type = self._flow.channels[key[0]].type
            messages = (QueuedMessage(run.next_seq + seq, Unknown(type)) for seq in range(count))
            run.queues[key] = deque(messages)
            run.next_seq += count
        for name, value in zip(self._attributes, state.data, strict=False):
            known = thaw(value, self._flow.attributes[name].type)
            if known is not None:
                run.attributes[name] = known
        run.input = thaw(state.data[-1], self._flow.input)
        for round in state.rounds:
            reports = [BranchReport(0, None)] * round.report_count
            run.rounds[round.name] = Round(
                round.name.partition("/")[0],
                round.branch_count,
                round.counting,
                round.missed,
                round.members,
                round.is_cancelled,
                reports,
            )

    def read(self, run: Run, state: State | None) -> Reading:
        """New rounds get the lowest free slots; so do the families of `cancel_siblings`."""
        names = _slots(run, state)
        whereabouts = {
            execution.id: self.number(_renamed(self._places.freeze(execution), names))
            for execution in run.executions.values()
            if execution.id != TIMEOUT_ID
        }
        queues: Counter[int] = Counter()
        for key, queue in run.queues.items():
            queues[self.queue_number(key)] += len(queue)
        return Reading(
            Counter(whereabouts.values()), whereabouts, queues, self._data(run), _rounds(run, names)
        )

    def _data(self, run: Run) -> tuple[Frozen, ...]:
        steering = (freeze(run.attributes.get(name)) for name in self._attributes)
        return (*steering, freeze(run.input, self._relevance.run_input))

    @property
    def no_data(self) -> tuple[Frozen, ...]:
        return self._data(Run())


def _slots(run: Run, state: State | None) -> dict[str, str]:
    """Round ids, and ids of those that executions come from, to names."""
    kept = {round.name for round in state.rounds} if state is not None else set()
    names = {id: id for id in run.rounds if id in kept}
    for id, round in run.rounds.items():
        if id not in names:
            slot = 1
            while f"{round.join}/{slot}" in names.values():
                slot += 1
            names[id] = f"{round.join}/{slot}"
    for origin in sorted({execution.origin for execution in run.executions.values()}):
        if not origin.startswith(_FAMILY):
            slot = 1
            taken = {execution.origin for execution in run.executions.values()} | set(names.values())
            while f"{_FAMILY}{slot}" in taken:
                slot += 1
            names[origin] = f"{_FAMILY}{slot}"
    return names


def _renamed(place: Place, names: dict[str, str]) -> Place:
    if place.origin:
        place = place._replace(origin=names.get(place.origin, place.origin))
    if not place.line and not place.faces:
        return place
    wait = place.wait
    if wait is not None:
        wait = _renamed_wait(wait, names)
    line = tuple(names.get(round, round) for round in place.line)
    faces = tuple((join, names.get(round, round)) for join, round in place.faces)
    return place._replace(line=line, faces=faces, wait=wait)


def _renamed_wait(wait: Wait, names: dict[str, str]) -> Wait:
    conditions = tuple(
        condition if condition.round is None else replace(condition, round=names.get(condition.round))
        for condition in wait.conditions
    )
    return replace(wait, conditions=conditions)


def _rounds(run: Run, names: dict[str, str]) -> tuple[RoundCount, ...]:
    return tuple(
        sorted(
            RoundCount(
                names[id],
                round.branch_count,
                round.counting,
                round.missed,
                round.members,
                round.is_cancelled,
                len(round.reports),
            )
            for id, round in run.rounds.items()
        )
    )
