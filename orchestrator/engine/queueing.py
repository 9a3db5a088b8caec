"""Taking over work from queues, within their limits.

What a limited queue has running is counted from its leased rows, in the transaction that leases more: a slot
cannot leak, a dead worker's come back with its leases. Its rate is spent in the same transaction.
"""

from __future__ import annotations

from datetime import datetime

from orchestrator.engine.batch import Batch
from orchestrator.engine.claiming import take_all
from orchestrator.engine.runs import Runs
from orchestrator.engine.workplace import Workplace
from orchestrator.store.contract import Transaction
from orchestrator.store.queues import Queue
from orchestrator.store.times import from_micros, to_micros


def claim_from_queues(
    transaction: Transaction, batch: Batch, workplace: Workplace, runs: Runs, limit: int
) -> None:
    _Claim(transaction, batch, workplace, runs, limit).run()


class _Claim:
    def __init__(
        self, transaction: Transaction, batch: Batch, workplace: Workplace, runs: Runs, limit: int
    ) -> None:
        self._transaction = transaction
        self._batch = batch
        self._workplace = workplace
        self._runs = runs
        self._left = limit
        self._now = to_micros(batch.now)
        self._shares = workplace.shares(batch.queues)
        self._startable = self._shares.startable
        self._spent_until: dict[int, int] = {}
        """Of the limited queues that are held."""
        self._leased_counts: dict[int, int] = {}
        self._used: dict[int, int] = {}
        self._is_kept_back = False
        self._has_more = False
        self._due_at: datetime | None = None

    def run(self) -> None:
        if self._shares.are_timers_apart:
            self._claim_timers()
        numbers = [number for number in self._shares.queues if number]
        ready = self._transaction.ready_queues(numbers, self._batch.now) if numbers else set()
        limited = {each.number for number in ready for each in self._limits(number)}
        if limited:
            self._hold(limited)
        for number in self._shares.queues:
            self._claim(number, is_ready=number == 0 or number in ready)
        self._spend()
        self._has_more = self._has_more or self._left <= 0
        if self._is_kept_back:
            self._note_due(self._batch.now)
            self._workplace.note_kept_back()
        self._workplace.note_work(has_more=self._has_more, due_at=None if self._has_more else self._due_at)

    def _hold(self, numbers: set[int]) -> None:
        self._spent_until = self._transaction.hold_queues(sorted(numbers))
        families = {number: self._batch.queues.family(number) for number in self._spent_until}
        counts = self._transaction.leased_counts(sorted({each for all in families.values() for each in all}))
        for number, family in families.items():
            self._leased_counts[number] = sum(counts.get(each, 0) for each in family)

    def _claim_timers(self) -> None:
        claimed = self._transaction.claim_timers(self._workplace.claimer(), self._batch.now, self._left)
        take_all(self._transaction, self._batch, self._workplace, self._runs, claimed)
        if len(claimed) == self._left:
            self._has_more = True
        self._note_due(self._transaction.next_timer_at())

    def _limits(self, number: int) -> list[Queue]:
        """Queues whose limits hold for work of this one."""
        return [each for each in self._batch.queues.chain(number) if each.is_limited]

    def _claim(self, number: int, *, is_ready: bool) -> None:
        limits = self._limits(number)
        if is_ready and any(each.number not in self._spent_until for each in limits):
            self._is_kept_back = True
            return
        excluded = self._workplace.excluded(is_named=number in self._shares.named)
        if is_ready and self._left > 0:
            wanted = min(self._left, self._startable) if limits else self._left
            free = min([wanted, *(self._free_count(each) for each in limits)])
            if free > 0:
                self._take(number, free, excluded, limits)
        if not limits:
            self._note_due(self._transaction.next_due_at(excluded, number))
        elif self._startable > 0:
            self._note_due_of_limited(number, excluded, limits)

    def _take(self, number: int, free: int, excluded: list[str], limits: list[Queue]) -> None:
        batch, before = self._batch, len(self._batch.placed)
        claimed = self._transaction.claim(self._workplace.claimer(), batch.now, free, excluded, number)
        if limits:
            batch.admitted.update((each.run, each.execution_id) for each in claimed)
        take_all(self._transaction, batch, self._workplace, self._runs, claimed, number)
        placed_count = len(batch.placed) - before
        self._left -= placed_count
        for each in limits:
            self._used[each.number] = self._used.get(each.number, 0) + placed_count
        if limits:
            self._startable -= placed_count
        elif len(claimed) == free:
            self._has_more = True

    def _free_count(self, queue: Queue) -> int:
        settings, counts = queue.settings, []
        if settings.concurrency is not None:
            counts.append(settings.concurrency - self._leased_counts[queue.number])
        if settings.rate is not None:
            counts.append(settings.rate.free_count(self._spent_until[queue.number], self._now))
        return max(0, min(counts) - self._used.get(queue.number, 0))

    def _note_due_of_limited(self, number: int, excluded: list[str], limits: list[Queue]) -> None:
        """Where nothing more may run, whoever ends something says so; a rate says itself when to look."""
        earliest = self._now
        for each in limits:
            if each.number not in self._spent_until:
                continue  # nothing was ready
            used, spent_until = self._used.get(each.number, 0), self._spent_until[each.number]
            rate, concurrency = each.settings.rate, each.settings.concurrency
            if concurrency is not None and concurrency - self._leased_counts[each.number] - used <= 0:
                return
            if rate is not None and rate.free_count(spent_until, self._now) - used <= 0:
                spent_until = rate.spend(spent_until, self._now, used)
                earliest = max(earliest, rate.free_at(spent_until, self._now))
        due_at = self._transaction.next_due_at(excluded, number)
        if due_at is not None:
            self._note_due(max(due_at, from_micros(earliest)))

    def _spend(self) -> None:
        for number, count in self._used.items():
            queue = self._batch.queues.get(number)
            if count and queue is not None and queue.settings.rate is not None:
                spent_until = queue.settings.rate.spend(self._spent_until[number], self._now, count)
                self._transaction.spend(number, spent_until)

    def _note_due(self, at: datetime | None) -> None:
        if at is not None and (self._due_at is None or at < self._due_at):
            self._due_at = at
