"""Arithmetic of states: what an outcome changes, and the state after it."""

from __future__ import annotations

from collections import Counter

from orchestrator.core.state import Status
from orchestrator.verify.state import Counts, Outcome, State


def follow(state: State, outcome: Outcome) -> State:
    """The state after; of a closed run only what its verdict needs is kept."""
    if outcome.status is Status.RUNNING or outcome.status is Status.COMPLETED:
        marking, queues = changed(state.marking, outcome.places), changed(state.queues, outcome.queues)
    else:
        marking, queues = (), ()
    if outcome.status is not Status.RUNNING:
        return State(marking, queues, (), (), (), False, False, outcome.status)
    budget = state.budget
    if outcome.source is not None:
        budget = (*budget[: outcome.source], budget[outcome.source] - 1, *budget[outcome.source + 1 :])
    return State(
        marking,
        queues,
        state.data if outcome.data is None else outcome.data,
        state.rounds if outcome.rounds is None else outcome.rounds,
        budget,
        state.is_completing or outcome.is_completing,
        state.has_timed_out or outcome.times_out,
        outcome.status,
    )


def changed(counts: Counts, changes: Counts) -> Counts:
    if not changes:
        return counts
    merged = dict(counts)
    for number, change in changes:
        left = merged.get(number, 0) + change
        if left:
            merged[number] = left
        else:
            merged.pop(number, None)
    return tuple(sorted(merged.items()))


def counts_of(counter: Counter[int]) -> Counts:
    return tuple(sorted((number, count) for number, count in counter.items() if count))


def difference(after: Counter[int], before: Counter[int]) -> Counts:
    numbers = {*after, *before}
    return tuple(sorted((n, after[n] - before[n]) for n in numbers if after[n] != before[n]))
