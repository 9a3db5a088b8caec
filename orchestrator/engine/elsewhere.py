"""Handlers that run beside the handler threads: coroutines in one event loop, others in child processes.

Both begin as soon as they are leased, so what is leased is bounded by what can run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.clock import Clock
from orchestrator.core.events import Failure
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.task import Task, timed_out
from orchestrator.engine.watch import Watch

if TYPE_CHECKING:
    from orchestrator.engine.coroutines import CoroutineLoop
    from orchestrator.engine.processes.pool import Pool
    from orchestrator.engine.processes.wire import Hello

MAXIMUM_COROUTINES = 200
_CANCEL_GRACE = 5.0
"""Seconds for a handler in a process to notice that nobody wants its result."""


class Processes(NamedTuple):
    """The child processes that a worker may have."""

    size: int
    is_eager: bool
    """Start them before there is work for them."""
    greet: Callable[[], Hello]
    trace: Callable[[Task], dict[str, str]]
    """Headers that carry the span of an attempt into its process."""


NO_PROCESSES = Processes(0, False, lambda: NotImplemented, lambda _: {})


class Elsewhere:
    def __init__(
        self,
        clock: Clock,
        watch: Watch,
        processes: Processes,
        *,
        services: Callable[[Task], Services],
        beat: Callable[[Task, Json], None],
        report: Callable[[Task, Returned | Failure], None],
    ) -> None:
        """`report` is called for each attempt that ends, from any thread, and then to be committed."""
        self.coroutine_count = 0
        self.process_count = 0
        """Leased."""
        self.on_call: Callable[[Task, float], None] | None = None
        self.on_room: Callable[[], None] = lambda: None
        """There is room again, and work for it had been left."""
        self._clock = clock
        self._watch = watch
        self._processes = processes
        self._services = services
        self._beat = beat
        self._report = report
        self._coroutines: CoroutineLoop | None = None
        self._pool: Pool | None = None
        self._watched: dict[Task, float] = {}
        """Coroutines that send heartbeats, or owe them, and all calls in processes; since when they run."""
        self._cancelled_at: dict[Task, float] = {}
        """Calls in processes that know it."""
        self._has_left = False
        self._flows: list[Flow] = []
        """With handlers that run in processes."""
        self._is_open = False

    # --- Leases ---

    @property
    def held_count(self) -> int:
        return self.coroutine_count + self.process_count

    def has_room(self, bound: BoundHandler, placed_count: int) -> bool:
        """For one more, beside those that this batch has placed."""
        if bound.runs_in_process:
            load = self._pool.load if self._pool is not None else 0
            has_room = load + placed_count < self._processes.size
        else:
            has_room = self.coroutine_count + placed_count < MAXIMUM_COROUTINES
        self._has_left = self._has_left or not has_room
        return has_room

    def leaves(self, in_process: list[str], in_loop: list[str]) -> list[str]:
        """Which of these steps are not to be claimed now: there is no room for them."""
        left: list[str] = []
        if in_process and self._pool is not None and self._pool.load >= self._processes.size:
            left += in_process
        if in_loop and self.coroutine_count >= MAXIMUM_COROUTINES:
            left += in_loop
        self._has_left = self._has_left or bool(left)
        return left

    def accept(self, tasks: Iterable[Task]) -> None:
        """Begin them; those that cannot be called are only counted."""
        coroutines, calls = [], []
        for task in tasks:
            if task.is_in_process:
                self.process_count += 1
                calls.append(task)
            else:
                self.coroutine_count += 1
                coroutines.append(task)
        if coroutines:
            self._begin_coroutines([task for task in coroutines if task.failure is None])
        if calls:
            self._open_pool().put([task for task in calls if task.failure is None])

    def forget(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            if not task.is_in_process:
                self.coroutine_count -= 1
                self._note_room()
                continue
            self.process_count -= 1
            if task.is_cancelled:
                self._tell_cancelled(task)

    def _note_room(self) -> None:
        if self._has_left:
            self._has_left = False
            self.on_room()

    def take_back(self) -> list[Task]:
        return [] if self._pool is None else self._pool.take_back()

    # --- Life ---

    def start(self) -> None:
        self._is_open = True
        if self._processes.is_eager or self._flows:
            self._open_pool()

    def learn(self, flow: Flow) -> None:
        """Some of its handlers run in processes."""
        self._flows.append(flow)
        if self._is_open:
            self._open_pool().learn(flow)

    def stop(self) -> None:
        """What still runs is cancelled or killed."""
        self._is_open = False
        if self._coroutines is not None:
            self._coroutines.stop()
            self._coroutines = None
        if self._pool is not None:
            self._pool.stop()
            self._pool = None

    def _open_pool(self) -> Pool:
        if self._pool is None:
            from orchestrator.engine.processes.pool import Pool  # most workers have none

            self._pool = Pool(
                self._processes.size,
                self._processes.greet,
                trace=self._processes.trace,
                begin=self._begin_call,
                beat=self._beat,
                finish=self._finish_call,
            )
            for flow in self._flows:
                self._pool.learn(flow)
        return self._pool

    # --- Coroutines ---

    def _begin_coroutines(self, tasks: list[Task]) -> None:
        if self._coroutines is None:
            from orchestrator.engine.coroutines import CoroutineLoop  # asyncio is slow to import

            self._coroutines = CoroutineLoop(self._services, self._finish_coroutine)
        for task in tasks:
            if task.heartbeat is not None:
                self._begin_watching(task)
        self._coroutines.begin(tasks)

    def _finish_coroutine(self, task: Task, returned: object) -> None:
        self._watched.pop(task, None)
        self._note_call(task)
        if not task.end():
            return
        if isinstance(returned, Returned):
            self._report(task, returned)
        elif isinstance(returned, TimeoutError) and self._is_overdue(task):
            self._report(task, timed_out(task.timeout))
        else:
            assert isinstance(returned, BaseException)
            self._report(task, failure_of(returned))

    def _is_overdue(self, task: Task) -> bool:
        assert task.handed_out_at is not None
        return self._clock.now() - task.handed_out_at >= timedelta(seconds=task.timeout)

    # --- Calls in processes ---

    def _begin_call(self, task: Task) -> None:
        self._begin_watching(task)
        if task.is_cancelled:
            self._tell_cancelled(task)  # just before, when there was nobody to tell

    def _tell_cancelled(self, task: Task) -> None:
        if task in self._watched and self._pool is not None:
            self._cancelled_at[task] = self._clock.monotonic()
            self._pool.tell_cancelled(task)
            self._watch.need_within(_CANCEL_GRACE)

    def _finish_call(self, task: Task, outcome: Returned | Failure | None) -> None:
        self._watched.pop(task, None)
        self._cancelled_at.pop(task, None)
        self._note_room()
        if outcome is None:
            return
        self._note_call(task)
        if task.end():
            self._report(task, outcome)

    # --- Time ---

    def watch_pulse(self, task: Task, now: float) -> None:
        """It has sent a heartbeat, though it need not."""
        self._watched.setdefault(task, now)

    def watched(self) -> list[Task]:
        return list(self._watched)

    def give_up_overdue(self, now: float, soonest: float | None) -> float | None:
        """Those over their time have failed; the earlier of `soonest` and the seconds until the next is."""
        for task, started_at in list(self._watched.items()):
            left, failure = task.overdue(started_at, now)
            if task in self._cancelled_at:
                left = min(left, self._cancelled_at[task] + _CANCEL_GRACE - now)
            elif task.is_cancelled and not task.is_in_process:
                left = 0
            if left > 0:
                soonest = left if soonest is None else min(soonest, left)
                continue
            self._watched.pop(task, None)
            self._give_up(task, failure)
        return soonest

    def _give_up(self, task: Task, failure: Failure) -> None:
        if task.end() and not task.is_cancelled:
            task.is_cancelled = True
            self._report(task, failure)
        if task.is_in_process and self._pool is not None:
            self._pool.kill(task, failure.message)
        elif self._coroutines is not None:
            self._coroutines.cancel(task)

    def _begin_watching(self, task: Task) -> None:
        now = self._clock.monotonic()
        self._watch.need_within(task.begin(now))
        self._watched[task] = now

    def _note_call(self, task: Task) -> None:
        if self.on_call is not None and task.handed_out_at is not None:
            self.on_call(task, (self._clock.now() - task.handed_out_at).total_seconds())
