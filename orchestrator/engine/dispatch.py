"""Threads that run handlers. Who finishes one commits for all (commit.py); who finds nothing to do sleeps.

Waking is one at a time: a commit that produced work wakes one sleeper, which wakes the next if there is more
than it takes itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from time import thread_time

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import Returned
from orchestrator.clock import Clock
from orchestrator.core.events import Failure
from orchestrator.core.state import Execution
from orchestrator.definition.model import Json
from orchestrator.engine.cache import Entry
from orchestrator.engine.commit import Committer
from orchestrator.engine.crew import begin
from orchestrator.engine.demand import Demand
from orchestrator.engine.elsewhere import NO_PROCESSES, Elsewhere, Processes
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.pace import INSTANT, MAXIMUM_ROOM, Pace
from orchestrator.engine.pulse import Pulse
from orchestrator.engine.quantum import Quantum
from orchestrator.engine.ready import Ready
from orchestrator.engine.seat import Seat, Sleepers
from orchestrator.engine.shares import Shares, Turns
from orchestrator.engine.sharing import AGAIN, PATIENCE, Sharing
from orchestrator.engine.submission import Beat, Performance, Report
from orchestrator.engine.task import Task, apart, failed, succeeded, task_of_call
from orchestrator.engine.watch import Watch
from orchestrator.store.queues import Queues

_PUT_OFF = 0.001
"""Seconds for which a finished event may wait for company while there is work at hand."""
_PUT_OFF_COUNT = 256
_JOIN_SECONDS = 5.0


class Dispatcher:
    """See workplace.Workplace. `worker` is the lease that work is taken under."""

    def __init__(
        self,
        committer: Committer,
        handlers: Handlers,
        clock: Clock,
        *,
        concurrency: int,
        services: Callable[[Task], Services],
        processes: Processes = NO_PROCESSES,
    ) -> None:
        self.worker = 0
        self.is_open = False
        self.on_rest: Callable[[], None] = lambda: None
        """Called when a thread finds nothing to do."""
        self.on_due: Callable[[], None] = lambda: None
        """Called when something is due, before work is looked for."""
        self.on_given_up: Callable[[], None] = lambda: None
        """Called when others have taken this worker for dead."""
        self.on_call: Callable[[Task, float], None] | None = None
        """Called after a handler, with the seconds that it took."""
        self.watch = Watch(clock, self._look)
        self._committer = committer
        self._handlers = handlers
        self._clock = clock
        self._monotonic = clock.monotonic
        self._services = services
        self._concurrency = concurrency
        self._pace = Pace(concurrency)
        self._quantum = Quantum()
        self._turns = Turns(handlers)
        self._elsewhere = Elsewhere(
            clock, self.watch, processes, services=services, beat=self.beat, report=self._report
        )
        self._elsewhere.on_room = self.look_for_work
        handlers.on_in_process = self._elsewhere.learn
        self._ready = Ready()
        self._line = self._ready.line
        self._sharing = Sharing(self._ready, self._pace, clock, concurrency, committer.submit)
        self._sleepers = Sleepers()
        self._seats: list[Seat] = []
        self._threads: list[threading.Thread] = []
        self._call_count = 0
        """Leased calls of plain functions, waiting or running."""
        self._demand = Demand()
        self._is_kept_back = False
        self._oldest_at = 0.0
        self._is_stopping = False

    # --- Workplace ---

    def wanted(self) -> int:
        if not self._demand.is_there or not self.is_open:
            return 0
        return max(0, self._pace.room() - self._call_count)

    def begin_claim(self) -> int:
        self._demand.begin_claim()
        return self.wanted()

    def claimer(self) -> int:
        return self.worker

    def excluded(self, *, is_named: bool = False) -> list[str]:
        handlers = self._handlers
        left = handlers.unbound() if is_named else handlers.excluded()
        return [*left, *self._elsewhere.leaves(handlers.in_process, handlers.in_loop)]

    def note_queues(self, queues: Queues) -> None:
        self._handlers.queues = queues
        self._pace.note_priorities(queues.has_priorities)

    def shares(self, queues: Queues) -> Shares:
        is_elsewhere = self._handlers.in_loop or self._handlers.in_process
        startable = MAXIMUM_ROOM if is_elsewhere else max(0, self._concurrency - self._call_count)
        return self._turns.take(queues, startable)

    def place(self, entry: Entry, execution: Execution, placed_count: int, ended_count: int) -> Task | None:
        if not self.is_open:
            return None
        bound = self._handlers.of(entry.flow, execution)
        if bound is None:
            return None
        if bound.is_elsewhere:
            is_full = not self._elsewhere.has_room(bound, placed_count)
        else:
            name = bound.method.handler.name
            is_full = self._pace.is_full(name, self._call_count, placed_count, ended_count)
        if is_full:
            return None
        return task_of_call(entry.number, execution, bound, self.worker)

    def accept(self, tasks: list[Task], *, by_dispatcher: bool) -> None:
        elsewhere, here = apart(tasks)
        self._call_count += len(here)
        if elsewhere:
            self._elsewhere.accept(elsewhere)
            here += [task for task in elsewhere if task.failure is not None]
        self._ready.put(here)
        is_called = self._sleepers.wake_one() if here and not by_dispatcher else bool(self._sleepers)
        if self._ready.reserve or (self._line and not is_called):
            self.watch.need_within(PATIENCE)
        if self._sharing.runs_dry(self._call_count):
            self._demand.ask()

    def forget(self, tasks: list[Task]) -> None:
        elsewhere, here = apart(tasks)
        self._call_count -= len(here)
        if elsewhere:
            self._elsewhere.forget(elsewhere)

    def note_work(self, *, has_more: bool | None, due_at: datetime | None) -> None:
        if has_more is not None:
            self._demand.note(has_more)
        if due_at is not None:
            self.watch.need_by(due_at)

    def note_kept_back(self) -> None:
        self._is_kept_back = True

    def note_given_up(self) -> None:
        self.on_given_up()

    def retry_at(self, at: datetime) -> None:
        self.watch.need_by(at)

    def take_over(self) -> bool:
        following = self._following()
        if following is not None and not self._pace.is_quick(following):
            return False
        if not self._sleepers.call_leader():
            return False
        if following is not None:
            self.watch.mind()  # it is usually quick
        return True

    def leads_soon(self) -> bool:
        if self._sleepers.is_leader_coming:
            return True
        following, is_instant = self._following(), self._pace.is_instant
        if following is None or not is_instant(following):
            return False
        other_count = len(self._sleepers) + sum(not is_instant(task.handler) for task in self.running())
        if other_count >= len(self._seats):
            return False
        self.watch.mind()  # it is usually done in an instant
        return True

    def calls_for_work(self) -> bool:
        return self._sharing.calls(self._call_count)

    def give_away(self) -> None:
        """Another worker has called for work."""
        if self._sharing.give_away():
            self.watch.need_by(self._clock.now() + AGAIN)
            self.nudge()

    # --- Life ---

    def start(self) -> None:
        self.is_open = True
        self._is_stopping = False
        self._quantum.begin()
        for _ in range(self._concurrency):
            self._add_thread()
        self._elsewhere.on_call = self.on_call
        self._elsewhere.start()
        self.watch.start()

    def look_for_work(self) -> None:
        """Something may have come from elsewhere."""
        self._demand.ask()
        if not self._sleepers.wake_one():
            self.watch.need_now()

    def is_at_rest(self) -> bool:
        """Nothing leased, nothing to commit, nothing known to be claimable."""
        return self.held_count == 0 and self._committer.is_settled()

    def take_back(self) -> list[Task]:
        """The tasks that have not been begun; they will not be."""
        return [*self._elsewhere.take_back(), *self._ready.take_all()]

    def running(self) -> list[Task]:
        return [seat.task for seat in self._seats if seat.task is not None]

    @property
    def running_count(self) -> int:
        """What runs elsewhere runs from the moment it is leased."""
        return len(self.running()) + self._elsewhere.held_count

    @property
    def held_count(self) -> int:
        return self._call_count + self._elsewhere.held_count

    def stop(self) -> None:
        """End the threads; those inside a handler are left behind."""
        self._is_stopping = True
        self.watch.stop()
        self._elsewhere.stop()
        while self._sleepers:
            self._sleepers.wake_one()
        for seat, thread in zip(self._seats, self._threads, strict=True):
            if seat.task is None and thread is not threading.current_thread():
                thread.join(_JOIN_SECONDS)

    def _add_thread(self) -> None:
        seat = Seat()
        thread = threading.Thread(
            target=self._work, args=(seat,), name=f"handler-{len(self._seats) + 1}", daemon=True
        )
        begin(thread, len(self._threads), self._concurrency)
        self._seats.append(seat)
        self._threads.append(thread)

    # --- One thread ---

    def _work(self, seat: Seat) -> None:
        committer = self._committer
        while not self._is_stopping and not seat.is_replaced:
            task = self._take()
            if task is not None:
                self._perform(seat, task)
                if self._may_put_off():
                    continue
                committer.lead(by_dispatcher=True)
                if len(self._line) > 1 and self._sleepers:
                    self._call_company()
            elif committer.needs_leader():
                committer.lead(by_dispatcher=True)
            else:
                self._sleepers.rest(seat, self._is_needed, self.on_rest)

    def _take(self) -> Task | None:
        task = self._ready.take()
        if self._line and self._sleepers:
            self._call_company()
        return task

    def _call_company(self) -> None:
        """Somebody for what else is ready, unless that is done before anybody is awake."""
        following = self._following()
        if following is not None and self._pace.is_instant(following):
            self.watch.mind()
        elif following is not None:
            self._sleepers.wake_one()

    def _following(self) -> str | None:
        """The handler of what is ready next."""
        try:
            return self._line[0].handler
        except IndexError:
            return None

    def _perform(self, seat: Seat, task: Task) -> None:
        if task.is_cancelled:
            return
        if task.failure is not None:
            self._report_failure(task, task.failure)
            return
        assert task.snapshot is not None
        if task.bound.method.handler.transactional:
            self._submit(Performance(task, self._services(task)))
            return
        seat.started_at = self._monotonic()
        seat.task = task
        self.watch.need_at(seat.started_at + task.begin(seat.started_at))
        computed = thread_time()
        try:
            returned = task.bound.invoke(task.snapshot, self._services(task))
        except BaseException as error:  # SystemExit and its like end a handler, not the worker
            if task.end():
                self._report_failure(task, failure_of(error))
        else:
            if task.end():
                self._submit(Report(task, partial(succeeded, task, returned)))
        seconds = self._monotonic() - seat.started_at
        self._pace.note(task.handler, seconds)
        if seconds > INSTANT:
            self._quantum.note(thread_time() - computed)
        seat.task = None
        if self.on_call is not None:
            self.on_call(task, seconds)

    def _report(self, task: Task, outcome: Returned | Failure) -> None:
        """Of a call elsewhere."""
        if isinstance(outcome, Failure):
            self._report_failure(task, outcome)
        else:
            self._submit(Report(task, partial(succeeded, task, outcome)))
        self.nudge()

    def _report_failure(self, task: Task, failure: Failure) -> None:
        self._submit(Report(task, partial(failed, task, failure)))

    def _submit(self, report: Report | Performance) -> None:
        if not self._committer.inbox:
            self._oldest_at = self._monotonic()
        if report.task.pulse is not None:
            self._keep_heartbeat(report.task, report.task.pulse, is_last=True)
        self._committer.submit(report)

    # --- Heartbeats ---

    def beat(self, task: Task, value: Json) -> None:
        """A handler reports progress."""
        now = self._clock.monotonic()
        if task.pulse is None:
            task.pulse = Pulse(now, None)
            if task.is_elsewhere:
                self._elsewhere.watch_pulse(task, now)
        task.pulse.beat(value, now)
        if self._keep_heartbeat(task, task.pulse):
            self.nudge()
        else:
            self.watch.need_within(task.pulse.interval)

    def _keep_heartbeat(self, task: Task, pulse: Pulse, *, is_last: bool = False) -> bool:
        value = pulse.take(self._clock.monotonic(), is_last=is_last)
        if value is not None:
            self._committer.submit(Beat(task, *value))
        return value is not None

    def _keep_heartbeats(self) -> float | None:
        """Those that came too soon after others; seconds until there are more to keep."""
        now = self._clock.monotonic()
        left = [
            task.pulse.seconds_left(now)
            for task in [*self.running(), *self._elsewhere.watched()]
            if task.pulse is not None and not self._keep_heartbeat(task, task.pulse)
        ]
        return min((each for each in left if each is not None), default=None)

    def _may_put_off(self) -> bool:
        """There is quick work at hand: run on for an instant, so that more is committed together."""
        following = self._following()
        if following is None or not self._pace.is_quick(following):
            return False
        is_time_up = self._monotonic() - self._oldest_at > _PUT_OFF
        if is_time_up or len(self._committer.inbox) >= _PUT_OFF_COUNT:
            return False
        self.watch.mind()
        return True

    def _is_needed(self) -> bool:
        return bool(self._line) or self._committer.needs_leader() or self._is_stopping

    # --- Clocks ---

    def nudge(self) -> bool:
        if self._is_stopping:
            return False
        if not self._sleepers.wake_one():
            self.watch.mind()
        return True

    def _look(self, is_due: bool) -> float | None:
        """The watch's turn: seconds until it has to look again, None: not before it is asked to."""
        if is_due:
            if self._is_kept_back:
                self._is_kept_back = False
                self.watch.breathe()
            self._demand.ask()
            self._committer.is_paused = False
            self.on_due()
        soonest = self._sharing.hand_back_waiting(self._give_up_overdue(self._keep_heartbeats()))
        is_left = self._committer.lead_briefly()
        if (is_left or self._line) and not self._sleepers.wake_one() and is_left:
            self.watch.need_now()
        return soonest

    def _give_up_overdue(self, soonest: float | None) -> float | None:
        """An attempt over its time has failed; its thread is replaced, what it still returns is ignored."""
        now = self._clock.monotonic()
        for seat in list(self._seats):
            task = seat.task
            if task is None or seat.is_replaced:
                continue
            left, failure = task.overdue(seat.started_at, now)
            if left > 0:
                soonest = left if soonest is None else min(soonest, left)
            elif task.end():
                seat.is_replaced = True
                task.is_cancelled = True
                self._report_failure(task, failure)
                index = self._seats.index(seat)
                del self._seats[index], self._threads[index]
                self._add_thread()
        return self._elsewhere.give_up_overdue(now, soonest)
