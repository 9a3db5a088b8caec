"""Having the runs that a batch is about at hand, before anything is decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import Call, Leased, Migrate, Request, Start, Submission
from orchestrator.errors import OrchestratorError
from orchestrator.store.contract import Transaction


def foresee(transaction: Transaction, submissions: Sequence[Submission], known: Runs) -> None:
    if len(submissions) > 1 and not transaction.answers_together:
        _load(transaction, submissions, known)
    elif transaction.answers_together:
        _ask_together(transaction, submissions, known)


def _load(transaction: Transaction, submissions: Sequence[Submission], known: Runs) -> None:
    """A processor does the same thing many times in a row faster than in turns with others."""
    for submission in submissions:
        if isinstance(submission, Request):
            with suppress(OrchestratorError):  # raised again when its turn comes
                known.by_flow_id(transaction, submission.flow_id)


def _ask_together(transaction: Transaction, submissions: Sequence[Submission], known: Runs) -> None:
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
