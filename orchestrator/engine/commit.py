"""The only writer of runs. Whoever has an event ready commits for all who have: leader and followers.

One event is one history row and one atomic commit; many commits share a transaction. Nobody waits for a batch
to fill: a batch is what came together while the previous one was being written, and while those whom that one
has answered woke (gathering.py).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, count

from orchestrator.binding.failures import failure_of
from orchestrator.clock import Clock
from orchestrator.core.reuse import Answer, may_start
from orchestrator.core.state import Status
from orchestrator.engine import leases
from orchestrator.engine.batch import MAXIMUM_EVENTS, Batch, SyncedOf, log
from orchestrator.engine.cache import VOID, Entry
from orchestrator.engine.calling import answer
from orchestrator.engine.children import Children
from orchestrator.engine.claiming import claim
from orchestrator.engine.conflicts import MAXIMUM_CONFLICTS, persistently
from orchestrator.engine.doubt import Doubt
from orchestrator.engine.faults import Faults
from orchestrator.engine.foresight import foresee
from orchestrator.engine.gathering import Gathering
from orchestrator.engine.holding import check_leases, end_leases, open_leases
from orchestrator.engine.inside import demand_outside, perform
from orchestrator.engine.lead import Lead
from orchestrator.engine.opening import existing, open_run, store_definition
from orchestrator.engine.runs import Runs
from orchestrator.engine.submission import (
    Beat,
    Call,
    Leased,
    Migrate,
    Performance,
    Receipt,
    Report,
    Request,
    Start,
    Started,
    Submission,
    Travel,
)
from orchestrator.engine.task import Task, failed, heartbeaten, internal_failure
from orchestrator.engine.travelling import travel_back
from orchestrator.engine.workplace import Workplace
from orchestrator.errors import NotFound, OrchestratorError, StoreConflict, StoreError, TransactionLost
from orchestrator.store.contract import Store, Transaction

_RETRY_AFTER = timedelta(milliseconds=100)
_TURNED_BACK = timedelta(seconds=1)
_REPORTED_FAILURES = 5
_IN_A_ROW = 8
"""Commits that one thread leads while there are always more, before it leaves them to others."""


class Committer:
    def __init__(self, store: Store, runs: Runs, clock: Clock, faults: Faults) -> None:
        self.inbox: deque[Submission] = deque()
        self.workplace: Workplace | None = None
        self.on_commit: Callable[[Batch], None] = lambda batch: None
        """Called with the lock held, after the batch is durable."""
        self.is_paused = False
        """The database has failed just now; the workplace tries again in a moment."""
        self.is_ring_due: Callable[[Batch], bool] = lambda batch: False
        """Do other processes have to hear of it?"""
        self.synced_of: SyncedOf = lambda flow: frozenset()
        self._store = store
        self.runs = runs
        self._clock = clock
        self._faults = faults
        self._lead = Lead()
        self._suspects: deque[Submission] = deque()
        """Submissions of a batch that failed for a reason of its own: tried one by one."""
        self._doubt = Doubt()
        self._gathering: Gathering | None = None
        """Of those whom the last commit has answered."""
        self._is_led_by_dispatcher = False
        self._now = clock.now()

    # --- Leading ---

    def submit(self, submission: Submission) -> None:
        self.inbox.append(submission)

    def lead(self, receipt: Receipt | None = None, *, by_dispatcher: bool = False) -> None:
        """Commit until nothing is left, unless somebody else is at it: they look again when they are done.

        `receipt`: what the client waits for who leads, unless a thread of the worker does.
        `by_dispatcher`: it wakes whom it needs itself.
        """
        if receipt is not None and self._leaves_lead():
            return
        for led_count in count(1):
            if not self.has_work() or not self._lead_once(receipt, by_dispatcher=by_dispatcher):
                return
            if self._hands_over(receipt, led_count):
                return

    def _leaves_lead(self) -> bool:
        """To a thread of the worker that is about to commit, or that can, where a server serves one best."""
        if self.workplace is None or self._lead.is_taken:
            return False
        return self.workplace.leads_soon() or (self._store.has_server and self.workplace.take_over())

    def lead_briefly(self) -> bool:
        """One commit, for a thread that has other duties. True: there is more, and nobody at it."""
        if self.has_work():
            self._lead_once(by_dispatcher=True)
        return self.needs_leader()

    def _lead_once(self, receipt: Receipt | None = None, *, by_dispatcher: bool) -> bool:
        """False: somebody else is at it."""
        if not self._lead.take():
            return False
        try:
            self._is_led_by_dispatcher = by_dispatcher
            self._gather(receipt)
            self._commit_batch()
        finally:
            self._lead.leave()
        return True

    def _hands_over(self, receipt: Receipt | None, led_count: int) -> bool:
        """A client that has its answer has its next call to make, who has led for long perhaps a handler."""
        has_led_long = led_count % _IN_A_ROW == 0
        is_free = has_led_long if receipt is None else receipt.is_answered
        if not is_free or self.workplace is None or not self.has_work():
            return False
        return self.workplace.nudge() if has_led_long else self.workplace.take_over()

    def _gather(self, receipt: Receipt | None) -> None:
        """Those whom the commit before has answered are awake before the next one begins."""
        if receipt is not None:
            receipt.note_awake()  # answered before, and still leading
        gathering, self._gathering = self._gathering, None
        if gathering is not None:
            gathering.wait()

    def has_work(self) -> bool:
        if self.is_paused:
            return False
        return bool(self.inbox or self._suspects) or (
            self.workplace is not None and (bool(self._doubt.leases) or self.workplace.wanted() > 0)
        )

    def needs_leader(self) -> bool:
        """There is work, and nobody at it who would look again."""
        return self.has_work() and not self._lead.is_taken

    def is_settled(self) -> bool:
        """Nothing to commit, nothing being committed."""
        return not self.has_work() and not self._lead.is_taken

    def exclusively(
        self,
        action: Callable[[Transaction, datetime], None],
        point: str,
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Write something else than runs, between two batches; `action` may be called again.

        `then`: what follows once it is stored, before anything else is. Raises StoreError.
        """
        demand_outside()

        def write() -> None:
            with self._store.writing() as transaction:
                action(transaction, self._tell_time())
                self._faults.before(point)

        with self._lead:
            persistently(write)
            self._faults.after(point)
            then()
        if self.needs_leader() and (self.workplace is None or not self.workplace.nudge()):
            self.lead()

    def hand_back(self, take_back: Callable[[], list[Task]]) -> None:
        """Release leases of work that was not begun (rule 157)."""

        tasks: list[Task] = []

        def release(transaction: Transaction, _: datetime) -> None:
            taken = take_back()
            tasks.extend(taken)
            for task in taken:
                entry = self.runs.cache.get(task.run)
                if entry is not None and entry.held.get(task.execution_id) is task:
                    del entry.held[task.execution_id]
            transaction.release(tasks[0].worker if tasks else 0, [(t.run, t.execution_id) for t in tasks])
            if tasks:
                transaction.ring()
            if self.workplace is not None:
                self.workplace.forget(taken)

        self.exclusively(release, "release")

    # --- One batch ---

    def _commit_batch(self) -> None:
        submissions = self._take()
        for tries_left in reversed(range(MAXIMUM_CONFLICTS)):
            batch = Batch(self._tell_time(), self.workplace)
            try:
                self._write(batch, submissions)
            except Exception as error:
                if tries_left and isinstance(error, StoreConflict):
                    self._forget(batch)
                    if self.workplace is not None:
                        self.workplace.note_work(has_more=True, due_at=None)  # what it claimed is free again
                    continue
                self._undo(batch, submissions, error)
                return
            if not batch.is_empty:
                self._faults.after("commit")
            self._conclude(batch)
            return

    def _write(self, batch: Batch, submissions: list[Submission]) -> None:
        with self._store.writing() as transaction:
            self._fill(transaction, batch, submissions)
            if not batch.is_empty:
                transaction.write(batch.writes(self.synced_of))
                if self.is_ring_due(batch):
                    transaction.ring()
                self._faults.before("commit")

    def _take(self) -> list[Submission]:
        """What calls a handler inside the transaction has one to itself."""
        if self._suspects:
            return [self._suspects.popleft()]
        taken: list[Submission] = []
        inbox = self.inbox
        while inbox and len(taken) < MAXIMUM_EVENTS:
            if inbox[0].is_inside:
                return taken or [inbox.popleft()]
            taken.append(inbox.popleft())
        return taken

    def _tell_time(self) -> datetime:
        """Does not go back within this process, unless the clock was wrong and was put right."""
        now = self._clock.now()
        if now > self._now or self._now - now > _TURNED_BACK:
            self._now = now
        return self._now

    def _fill(self, transaction: Transaction, batch: Batch, submissions: list[Submission]) -> None:
        foresee(transaction, submissions, self.runs)
        self._refresh(transaction, submissions)
        batch.pauses, batch.queues = transaction.pauses, transaction.queues
        if self.workplace is not None:
            self.workplace.note_queues(batch.queues)
        if self.workplace is not None and not transaction.is_alive(self.workplace.claimer()):
            self.workplace.note_given_up()
        if self._doubt.leases:
            self._doubt.release(transaction, batch, self.runs.cache)
        for submission in submissions:
            if isinstance(submission, Leased):
                self._hear(transaction, batch, submission)
            else:
                try:
                    if isinstance(submission, Request):
                        self._request(transaction, batch, submission)
                    elif isinstance(submission, Start):
                        self._start(transaction, batch, submission)
                    elif isinstance(submission, Travel):
                        travel_back(transaction, batch, self.runs, submission)
                    elif isinstance(submission, Migrate):
                        from orchestrator.engine.moving import move

                        move(transaction, batch, self.runs, submission)
                    else:
                        self._call(transaction, batch, submission)
                except OrchestratorError as error:
                    if isinstance(error, StoreError):
                        raise
                    batch.refused.append((submission.receipt, error))
        if self.workplace is not None:
            claim(transaction, batch, self.workplace, self.runs)
        batch.follow_up(Children(transaction, batch, self.runs))

    def _refresh(self, transaction: Transaction, submissions: list[Submission]) -> None:
        stale: dict[int, Entry] = {}
        for each in submissions:
            if isinstance(each, Leased):
                entry = self.runs.cache.peek(each.task.run)
                if entry is not None and entry.epoch != transaction.epoch:
                    stale[entry.number] = entry
        if not stale:
            return
        moved = self.runs.refresh(transaction, stale)
        for number, entry in stale.items():
            if number in moved or not transaction.are_leases_kept:
                check_leases(transaction, self.workplace, entry)

    # --- Submissions ---

    def _hear(self, transaction: Transaction, batch: Batch, leased: Leased) -> None:
        task = leased.task
        entry = self.runs.by_number(transaction, task.run)
        if entry is None or entry.held.get(task.execution_id) is not task:
            return  # cancelled, closed, or no longer leased to us: a late result changes nothing
        if task.run_attempt != entry.run.attempt:
            return  # the run has travelled in time
        if isinstance(leased, Beat):
            batch.apply(entry, heartbeaten(task, leased.value, batch.now))
            return
        batch.end(task)
        if isinstance(leased, Report):
            is_applied = self._report(batch, entry, leased)
        elif isinstance(leased, Performance):
            is_applied = perform(transaction, batch, entry, task, leased.services)
            self._stay_alive(transaction)
        else:
            is_applied = False
            transaction.ring()
        if not is_applied:
            transaction.release(task.worker, [(task.run, task.execution_id)])

    def _report(self, batch: Batch, entry: Entry, report: Report) -> bool:
        try:
            return batch.apply(entry, report.event(batch.now))
        except Exception as error:
            task = report.task
            log.exception("run %s: the report of %s cannot be decided", entry.run.flow_id, task.execution_id)
            return batch.apply(entry, failed(task, internal_failure(error), batch.now))

    def _stay_alive(self, transaction: Transaction) -> None:
        """While a handler ran inside the transaction, nobody could renew the lease of this worker."""
        if self.workplace is not None:
            transaction.renew_worker(self.workplace.claimer(), self._tell_time() + leases.ALIVE_FOR)

    def _start(self, transaction: Transaction, batch: Batch, start: Start) -> None:
        latest = self.runs.by_flow_id(transaction, start.flow_id)
        if latest is not None:
            is_repeated = start.request_id is not None and start.request_id == latest.run.request_id
            answer = may_start(start.reuse_policy, latest.run.status, is_repeated=is_repeated)
            if answer is Answer.REJECT:
                batch.receipts.append((start.receipt, existing(start, latest)))
                return
        entry = open_run(transaction, batch, self.runs, start.flow, start.event(batch.now), latest)
        for child in start.children:
            store_definition(transaction, batch, self.runs, child)
        batch.receipts.append(
            (start.receipt, Started(start.flow_id, start.run_id, entry.number, is_new=True))
        )

    def _request(self, transaction: Transaction, batch: Batch, request: Request) -> None:
        entry = self.runs.by_flow_id(transaction, request.flow_id)
        if entry is None:
            raise NotFound(f"there is no run {request.flow_id}", flow_id=request.flow_id)
        batch.apply(entry, request.event(batch.now))
        batch.receipts.append((request.receipt, None))

    def _call(self, transaction: Transaction, batch: Batch, call: Call) -> None:
        if call.run is not None:
            entry = self.runs.by_number(transaction, call.run)
        else:
            entry = self.runs.by_flow_id(transaction, call.flow_id)
        if entry is None:
            raise NotFound(f"there is no run {call.flow_id}", flow_id=call.flow_id)
        batch.receipts.append((call.receipt, answer(transaction, batch, entry, call)))
        if call.is_inside:
            self._stay_alive(transaction)

    # --- After the commit ---

    def _conclude(self, batch: Batch) -> None:
        workplace, cache = self.workplace, self.runs.cache
        self._doubt.end()
        for hash, epoch in batch.stored_definitions:
            self.runs.definitions.note_stored(hash, epoch)
        end_leases(cache, workplace, batch)
        if workplace is not None:
            open_leases(cache, workplace, batch, by_dispatcher=self._is_led_by_dispatcher)
            if batch.has_left_work or batch.next_due_at is not None:
                workplace.note_work(has_more=batch.has_left_work or None, due_at=batch.next_due_at)
            if batch.queues.has_limits and (batch.ended or batch.has_freed_slot):
                workplace.note_work(has_more=True, due_at=None)
        self.on_commit(batch)
        for entry in batch.entries.values():
            if entry.run.status is not Status.RUNNING:
                cache.drop(entry)
            else:
                cache.settle(entry)
        cache.trim()
        if batch.receipts or batch.refused:
            self._answer(batch)

    def _answer(self, batch: Batch) -> None:
        receipts = [receipt for receipt, _ in chain(batch.receipts, batch.refused)]
        awaited = [receipt for receipt in receipts if receipt.is_awaited]
        self._gathering = Gathering(awaited) if awaited else None
        for receipt, value in batch.receipts:
            if isinstance(value, OrchestratorError):
                receipt.refuse(value)
            else:
                receipt.fulfil(value)
        for receipt, error in batch.refused:
            receipt.refuse(error)

    # --- When it fails ---

    def _undo(self, batch: Batch, submissions: list[Submission], error: Exception) -> None:
        """Nothing of the batch was stored: forget what memory says of its runs, then try again or report."""
        self._forget(batch)
        if isinstance(error, StoreError):
            self._doubt.note(batch)
        if not isinstance(error, StoreError) and len(submissions) > 1:
            self._suspects.extend(submissions)
            return
        if not isinstance(error, StoreError):
            log.error("a commit failed for a reason of our own", exc_info=error)
        for submission in submissions:
            self._give_up_or_retry(submission, error)
        if self.workplace is not None and not isinstance(error, TransactionLost):
            self.is_paused = True
            self.workplace.retry_at(self._clock.now() + _RETRY_AFTER)

    def _forget(self, batch: Batch) -> None:
        for entry in batch.entries.values():
            entry.epoch = VOID
            self.runs.cache.drop(entry)

    def _give_up_or_retry(self, submission: Submission, error: Exception) -> None:
        if not isinstance(submission, Leased):
            submission.receipt.refuse(error)
            return
        if isinstance(error, TransactionLost):
            failure = failure_of(error)
            submission = Report(submission.task, partial(failed, submission.task, failure))
        if not isinstance(error, StoreError):
            return  # its step stays leased here: another worker would fail the same way
        if self.workplace is None:
            return  # the worker has stopped without waiting for it, and signed off: its lease is over
        submission.failed_count += 1
        if submission.failed_count == _REPORTED_FAILURES:
            log.error("results cannot be stored, trying on: %s", error)
        self._suspects.append(submission)


logging.getLogger("orchestrator").addHandler(logging.NullHandler())
