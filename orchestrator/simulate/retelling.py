"""Find data with which a run goes as a storyline tells: attempts, each changing what led the last astray."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from datetime import timedelta
from math import log2

from orchestrator.definition.durations import parse_duration
from orchestrator.definition.model import Flow, TimerCondition
from orchestrator.definition.values import Literal
from orchestrator.simulate.directing import Director
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.samples import Samples
from orchestrator.simulate.storyline import Storyline
from orchestrator.simulate.takes import Mishap, Slot, Take

ATTEMPTS = 200
SECONDS = 10.0
_DISTANCE_COST = 0.2
_TICK = timedelta(seconds=1)
_SHORT_TICK = timedelta(milliseconds=1)
"""For flows with timers shorter than the story."""


@dataclass(frozen=True, slots=True)
class Retelling:
    """`take` None: `reason` says why there is none."""

    take: Take | None
    reason: str = ""
    attempt_count: int = 0


def retell(
    flow: Flow,
    story: Storyline,
    flows: FlowSource,
    *,
    attempts: int = ATTEMPTS,
    seconds: float = SECONDS,
) -> Retelling:
    """By name first, then by order: the engine may serve alike executions in another order."""
    samples = Samples(flow, story.sizes())
    tick = _tick_of(flow, len(story.all_beats))
    searches = [_Search(flow, story, flows, samples, tick, goes_by_name) for goes_by_name in (True, False)]
    ends_at = time.monotonic() + seconds
    for count in range(1, attempts + 1):
        search = searches[count % 2 - 1]
        take = search.try_next()
        if take is not None:
            return Retelling(take, attempt_count=count)
        if time.monotonic() > ends_at or not any(each.is_going_on for each in searches):
            break
    return Retelling(None, searches[0].reason, count)


class _Search:
    """Best first: few changes of data, of those that led astray. One more of the same costs little."""

    def __init__(
        self,
        flow: Flow,
        story: Storyline,
        flows: FlowSource,
        samples: Samples,
        tick: timedelta,
        goes_by_name: bool,
    ) -> None:
        self._stage = (flow, story, flows, samples)
        self._tick = tick
        self._goes_by_name = goes_by_name
        self.reason = ""
        """Why the first attempt went astray."""
        self._heap: list[tuple[float, int, dict[Slot, int]]] = [(0, 0, {})]
        self._counts: dict[Slot, int] = {}
        """How many data there are, of slots that ran out of them."""
        self._known: set[frozenset[tuple[Slot, int]]] = {frozenset()}

    @property
    def is_going_on(self) -> bool:
        return bool(self._heap)

    def try_next(self) -> Take | None:
        if not self._heap:
            return None
        _, _, picks = heapq.heappop(self._heap)
        try:
            return self._attempt(picks)
        except Mishap as mishap:
            self.reason = self.reason or mishap.reason
            if mishap.exhausted is not None:
                most = self._counts.get(mishap.exhausted, picks.get(mishap.exhausted, 0))
                self._counts[mishap.exhausted] = min(most, picks.get(mishap.exhausted, 0))
            for distance, slot in enumerate(dict.fromkeys(mishap.slots)):
                self._push({**picks, slot: picks.get(slot, 0) + 1}, slot, distance)
        return None

    def _push(self, picks: dict[Slot, int], slot: Slot, distance: int) -> None:
        key = frozenset(picks.items())
        if key in self._known or picks[slot] >= self._counts.get(slot, picks[slot] + 1):
            return
        self._known.add(key)
        cost = sum(1 + log2(number) for number in picks.values()) + _DISTANCE_COST * distance
        heapq.heappush(self._heap, (cost, len(self._known), picks))

    def _attempt(self, picks: dict[Slot, int]) -> Take:
        director = Director(*self._stage, picks, tick=self._tick, goes_by_name=self._goes_by_name)
        return director.play()


def _tick_of(flow: Flow, beat_count: int) -> timedelta:
    """So short that no timer of the flow comes before the story is told."""
    spans = [timeout.after for timeout in (flow.timeout,) if timeout is not None]
    for step in flow.steps.values():
        if step.execute is not None:
            spans.append(step.execute.timeout)
        conditions = step.wait_for.conditions if step.wait_for is not None else ()
        timers = [each.after for each in conditions if isinstance(each, TimerCondition)]
        spans += [parse_duration(after.value) for after in timers if isinstance(after, Literal)]
    is_short = any(span <= _TICK * (beat_count + 2) for span in spans)
    return _SHORT_TICK if is_short else _TICK
