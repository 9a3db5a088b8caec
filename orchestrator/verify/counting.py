"""Arithmetic of states: what an outcome changes, and the state after it."""

from __future__ import annotations

from collections import Counter

from orchestrator.core.state import Status
from orchestrator.verify.state import Counts, Outcome, State


def follow(state: State, outcome: Outcome) -> State:
    """The state after."""
    if outcome.status is not Status.RUNNING:
        return _closed(state, outcome)
    marking, queues, data, rounds, budget, is_completing, has_timed_out, status = state
    source = outcome.source
    if source is not None:
        budget = (*budget[:source], budget[source] - 1, *budget[source + 1 :])
    after = (
        changed(marking, outcome.places) if outcome.places else marking,
        changed(queues, outcome.queues) if outcome.queues else queues,
        data if outcome.data is None else outcome.data,
        rounds if outcome.rounds is None else outcome.rounds,
        budget,
        is_completing or outcome.is_completing,
        has_timed_out or outcome.times_out,
        status,
    )
    return tuple.__new__(State, after)  # as State(*after) does, without a call of Python


def _closed(state: State, outcome: Outcome) -> State:
    """Only what the verdict needs is kept."""
    marking: Counts = ()
    queues: Counts = ()
    if outcome.status is Status.COMPLETED:
        marking, queues = changed(state.marking, outcome.places), changed(state.queues, outcome.queues)
    return State(marking, queues, (), (), (), False, False, outcome.status)


def changed(counts: Counts, changes: Counts) -> Counts:
    """Both are sorted, so they are merged."""
    found: list[tuple[int, int]] = []
    rest = iter(counts)
    entry = next(rest, None)
    for number, change in changes:
        while entry is not None and entry[0] < number:
            found.append(entry)
            entry = next(rest, None)
        if entry is not None and entry[0] == number:
            change += entry[1]
            entry = next(rest, None)
        if change:
            found.append((number, change))
    if entry is not None:
        found.append(entry)
        found += rest
    return tuple(found)


def counts_of(counter: Counter[int]) -> Counts:
    return tuple(sorted((number, count) for number, count in counter.items() if count))


def difference(after: Counter[int], before: Counter[int]) -> Counts:
    numbers = {*after, *before}
    return tuple(sorted((n, after[n] - before[n]) for n in numbers if after[n] != before[n]))
