"""Telling the store which runs a batch is about, before they are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.engine.cache import RunCache
from orchestrator.engine.submission import Call, Leased, Migrate, Start, Submission
from orchestrator.store.contract import Transaction


def foresee(transaction: Transaction, submissions: Iterable[Submission], cache: RunCache) -> None:
    runs: set[int] = set()
    reported: set[int] = set()
    started: set[str] = set()
    flow_ids: set[str] = set()
    for submission in submissions:
        if isinstance(submission, Leased):
            reported.add(submission.task.run)
        elif isinstance(submission, Start):
            started.add(submission.flow_id)
        elif isinstance(submission, Migrate | Call) and submission.run is not None:
            runs.add(submission.run)
        else:
            flow_ids.add(submission.flow_id)
    transaction.prepare(runs, flow_ids, reported, started - flow_ids)
    if transaction.answers_together:
        _preload(transaction, cache, runs, flow_ids)


def _preload(transaction: Transaction, cache: RunCache, runs: Iterable[int], flow_ids: Iterable[str]) -> None:
    """Runs that are not in memory, if there are several."""
    unknown = [run for run in runs if cache.get(run) is None]
    for flow_id in flow_ids:
        if cache.latest(flow_id) is None and (head := transaction.find_latest(flow_id)) is not None:
            unknown += [head.run] if cache.get(head.run) is None else []
    if len(unknown) > 1:
        transaction.preload(unknown)
