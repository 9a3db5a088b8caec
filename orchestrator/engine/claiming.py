"""Taking over work that is due and nobody's."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.engine.batch import Batch, log
from orchestrator.engine.workplace import Workplace
from orchestrator.errors import BodyUnreadable
from orchestrator.store.contract import Claimed, Transaction

TakeUp = Callable[[Transaction, Batch, Claimed], bool]
"""False: it cannot be worked on here after all."""


def claim(transaction: Transaction, batch: Batch, workplace: Workplace, take_up: TakeUp) -> None:
    limit = workplace.wanted()
    if limit <= 0:
        return
    excluded = workplace.excluded()
    claimed = transaction.claim(workplace.claimer(), batch.now, limit, excluded)
    for each in claimed:
        try:
            is_taken = take_up(transaction, batch, each)
        except BodyUnreadable as error:
            log.error("run number %d cannot be worked on: %s", each.run, error.message)
            continue  # stays leased here, so that it is not tried again and again
        if not is_taken:
            transaction.release(workplace.claimer(), [(each.run, each.execution_id)])
    has_more = len(claimed) == limit
    due_at = None if has_more else transaction.next_due_at(excluded)
    workplace.note_work(has_more=has_more, due_at=due_at)
    if not claimed and due_at is not None and due_at <= batch.now:
        workplace.note_kept_back()
