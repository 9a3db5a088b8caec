"""Which execution of a run plays which one of its story, and how far each has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.core.state import TIMEOUT_ID, TIMEOUT_STEP, Execution, Run
from orchestrator.simulate.storyline import Beat, BeatKind, Storyline

_WAITING = (BeatKind.WAIT_FOR, BeatKind.WAIT_FOR_FAILED)
_ENDING = (BeatKind.DECIDED, BeatKind.FAILED)


@dataclass(slots=True)
class Part:
    """What the story tells of one step execution."""

    execution_id: str = ""
    step: str = ""
    wait: Beat | None = None
    """How its wait_for handler ends."""
    satisfied: Beat | None = None
    end: Beat | None = None
    indexes: dict[int, int] = field(default_factory=dict)
    is_over: bool = False

    def index_of(self, beat: Beat | None) -> int:
        return self.indexes[id(beat)]

    @property
    def order(self) -> int:
        """When it begins to execute, as far as the story tells."""
        first = self.satisfied or self.end
        return self.index_of(first) if first is not None else 1 << 30


class Cast:
    """`goes_by_name`: an execution plays its namesake; else the executions of a step play in their order.

    A wait that the story ends second may be ended first by the engine, which serves the oldest one.
    """

    def __init__(self, story: Storyline, *, goes_by_name: bool) -> None:
        self._goes_by_name = goes_by_name
        self._cycle_begin = len(story.beats)
        self._begins: dict[str, int] = {}
        self._entered: dict[str, Execution] = {}
        self._assigned: dict[str, Part] = {}
        self._parts: dict[str, Part] = {}
        for index, beat in enumerate(story.all_beats):
            self._learn(index, beat)
        self._by_step: dict[str, list[Part]] = {}
        for part in sorted(self._parts.values(), key=lambda part: part.order):
            self._by_step.setdefault(part.step, []).append(part)
        self.rpc: Beat | None = None
        """The call that is under way."""

    def _learn(self, index: int, beat: Beat) -> None:
        for started in beat.starts:
            self._begins.setdefault(started, index)
        is_deadline = beat.kind is BeatKind.TIMED_OUT and beat.decision is not None
        execution_id, step = (TIMEOUT_ID, TIMEOUT_STEP) if is_deadline else (beat.execution_id, beat.name)
        if not execution_id:
            return
        part = self._parts.setdefault(execution_id, Part(execution_id, step))
        part.indexes[id(beat)] = index
        if beat.kind in _WAITING:
            part.wait = beat
        elif beat.kind is BeatKind.SATISFIED:
            part.satisfied = beat
        elif beat.kind in _ENDING or is_deadline:
            part.end = beat

    def begin_of(self, execution_id: str) -> int:
        """Index of the beat that starts it."""
        return self._begins.get(execution_id, 0)

    def ending_of(self, beat: Beat, decides_at_once: bool) -> int:
        """Index at which what ends a wait is to come: with the decision, where one follows at once."""
        part = self._parts[beat.execution_id]
        return part.index_of(part.end if decides_at_once and part.end is not None else beat)

    def enter(self, execution: Execution) -> None:
        self._entered[execution.id] = execution

    def step_of(self, execution_id: str) -> str:
        if execution_id in self._entered:
            return self._entered[execution_id].step
        return execution_id.rpartition("-")[0]

    def line_of(self, execution_id: str) -> list[str]:
        """Itself, and whom it comes from."""
        line = [execution_id]
        while (entered := self._entered.get(line[-1])) is not None and entered.origin in self._entered:
            line.append(entered.origin)
        return line

    def part_of(self, execution_id: str, step: str) -> Part:
        """An empty one where the story tells nothing of it."""
        if execution_id in self._assigned:
            return self._assigned[execution_id]
        if self._goes_by_name or execution_id == TIMEOUT_ID:
            part = self._parts.get(execution_id, Part(execution_id, step))
        else:
            taken = {each.execution_id for each in self._assigned.values()}
            left = (each for each in self._by_step.get(step, ()) if each.execution_id not in taken)
            part = next(left, Part("", step))
        self._assigned[execution_id] = part
        return part

    def is_played_by(self, told: str, execution_id: str, run: Run) -> bool:
        if self._goes_by_name:
            return told == execution_id
        if execution_id in self._assigned:
            return self._assigned[execution_id].execution_id == told
        part = self._parts.get(told)
        return part is not None and part.step == run.executions[execution_id].step

    @property
    def is_before_cycle(self) -> bool:
        """Every execution whose end is told before the cycle has come to it."""
        return all(part.is_over for part in self._ending() if part.index_of(part.end) < self._cycle_begin)

    @property
    def is_all_over(self) -> bool:
        return all(part.is_over for part in self._ending())

    def _ending(self) -> Iterator[Part]:
        return (part for part in self._parts.values() if part.end is not None)
