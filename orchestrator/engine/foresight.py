"""Telling the store which runs a batch is about, before they are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Call, Leased, Migrate, Start, Submission
from orchestrator.store.contract import Transaction


def foresee(transaction: Transaction, submissions: Iterable[Submission], known: Runs) -> None:
    if not transaction.answers_together:
        return
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
    unknown = [each for each in flow_ids if known.cache.latest(each) is None]
    transaction.prepare(runs, flow_ids, reported, started - flow_ids, unknown)
    if runs or unknown:
        heads = [head for each in unknown if (head := transaction.find_latest(each)) is not None]
        known.preload(transaction, [*runs, *(head.run for head in heads)])
