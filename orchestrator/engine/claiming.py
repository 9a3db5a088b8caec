"""Taking over work that is due and nobody's."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.state import Phase
from orchestrator.engine.batch import Batch, log
from orchestrator.engine.cache import Entry
from orchestrator.engine.holding import give_up_left_attempts
from orchestrator.engine.runs import Runs
from orchestrator.engine.workplace import Workplace
from orchestrator.errors import BodyUnreadable
from orchestrator.store.contract import Claimed, Transaction


def claim(transaction: Transaction, batch: Batch, workplace: Workplace, runs: Runs) -> None:
    limit = workplace.begin_claim()
    if limit <= 0:
        return
    if batch.queues:
        from orchestrator.engine.queueing import claim_from_queues

        claim_from_queues(transaction, batch, workplace, runs, limit)
        return
    excluded = workplace.excluded()
    claimed = transaction.claim(workplace.claimer(), batch.now, limit, excluded)
    take_all(transaction, batch, workplace, runs, claimed)
    if not (claimed or excluded) and workplace.calls_for_work():
        transaction.call_for_work()
    has_more = len(claimed) == limit
    due_at = None if has_more else transaction.next_due_at(excluded)
    workplace.note_work(has_more=has_more, due_at=due_at)
    if not claimed and due_at is not None and due_at <= batch.now:
        workplace.note_kept_back()


def take_all(
    transaction: Transaction,
    batch: Batch,
    workplace: Workplace,
    runs: Runs,
    claimed: Sequence[Claimed],
    queue: int = 0,
) -> None:
    """`queue`: where it was claimed from."""
    runs.preload(transaction, (each.run for each in claimed))
    for each in claimed:
        try:
            is_taken = _take_up(transaction, batch, workplace, runs, each, queue)
        except BodyUnreadable as error:
            log.error("run number %d cannot be worked on: %s", each.run, error.message)
            continue  # stays leased here, so that it is not tried again and again
        if not is_taken:
            transaction.release(workplace.claimer(), [(each.run, each.execution_id)])


def _take_up(
    transaction: Transaction, batch: Batch, workplace: Workplace, runs: Runs, claimed: Claimed, queue: int
) -> bool:
    """False: it cannot be worked on here after all."""
    entry = runs.by_number(transaction, claimed.run)
    if entry is None:
        return False
    if batch.queues and _is_misplaced(transaction, batch, entry, claimed, queue):
        return False
    if entry.held and entry.number not in batch.entries:
        give_up_left_attempts(workplace, entry)
    entry.waiting_count = max(0, entry.waiting_count - 1)
    is_attended = batch.attend(entry, claimed.execution_id)
    task = batch.placed.get((claimed.run, claimed.execution_id))
    if task is not None:
        task.is_lost = claimed.is_lost
    return is_attended


def _is_misplaced(transaction: Transaction, batch: Batch, entry: Entry, claimed: Claimed, queue: int) -> bool:
    """It was queued by somebody who did not know the present settings: put it where it belongs."""
    execution = entry.run.executions.get(claimed.execution_id)
    if execution is None or execution.phase is Phase.WAITING:
        return False
    proper = batch.queue_of(entry, execution)
    if proper == queue:
        return False
    transaction.set_step_queues([(claimed.run, claimed.execution_id, proper)])
    batch.has_left_work = True
    return True
