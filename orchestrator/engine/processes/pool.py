"""The child processes of one worker, always as many as it was given, and the threads that wait for them."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial

from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import Returned
from orchestrator.core.events import Failure
from orchestrator.core.snapshot import Snapshot
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.processes.process import DIED, ChildProcess
from orchestrator.engine.processes.wire import Begin, Hello, Lesson
from orchestrator.engine.task import Task

log = logging.getLogger("orchestrator.engine")
_STOP_SECONDS = 2.0
"""For what children still have to put away."""
_FIELDS = tuple(name for name in Snapshot.__struct_fields__ if name != "flow")
Outcome = Returned | Failure


class Pool:
    """One lock; nobody waits for a process with it held."""

    def __init__(
        self,
        size: int,
        greet: Callable[[], Hello],
        *,
        trace: Callable[[Task], dict[str, str]],
        begin: Callable[[Task], None],
        beat: Callable[[Task, Json], None],
        finish: Callable[[Task, Outcome | None], None],
    ) -> None:
        """Starts them. `begin` is called when a call begins, `finish` with what came of it (None: cancelled
        before), both by the pool's threads.
        """
        self.greet = greet
        self.trace = trace
        self.begin = begin
        self.beat = beat
        self.finish = finish
        self._lessons: list[Lesson] = []
        self._waiting: deque[Task] = deque()
        self._running: dict[Task, _Seat] = {}
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._is_stopping = False
        self._seats = [_Seat(self, number) for number in range(1, size + 1)]

    @property
    def load(self) -> int:
        """Calls that run or wait for a process, wanted or not."""
        return len(self._waiting) + len(self._running)

    def learn(self, flow: Flow) -> None:
        """Have the handlers of a definition imported by all children, now and later ones."""
        assert flow.source is not None
        with self._changed:
            if all(lesson.hash != flow.hash for lesson in self._lessons):
                self._lessons.append(Lesson(flow.hash, flow.source.text, flow.source.path))
                self._changed.notify_all()

    def put(self, tasks: list[Task]) -> None:
        with self._changed:
            self._waiting.extend(tasks)
            self._changed.notify_all()

    def take_back(self) -> list[Task]:
        """Those that have not begun."""
        with self._changed:
            left = list(self._waiting)
            self._waiting.clear()
            return left

    def tell_cancelled(self, task: Task) -> None:
        with self._changed:
            seat = self._running.get(task)
        if seat is not None:
            seat.tell_cancelled()

    def kill(self, task: Task, why: str) -> None:
        """End the process that runs it, if it still runs."""
        with self._changed:
            seat = self._running.get(task)
            if seat is not None:
                seat.kill(why)

    def stop(self) -> None:
        """What still runs is killed."""
        with self._changed:
            self._is_stopping = True
            for seat in self._running.values():
                seat.kill("the worker stops")
            self._changed.notify_all()
        for seat in self._seats:
            seat.join()

    # --- For the seats ---

    def next(self, seat: _Seat) -> Task | list[Lesson] | None:
        """Wait for something to do; lessons come before the calls that need them. None: stop."""
        with self._changed:
            while not self._is_stopping:
                if seat.taught_count < len(self._lessons):
                    return self.lessons(seat.taught_count)
                if self._waiting:
                    task = self._waiting.popleft()
                    self._running[task] = seat
                    return task
                self._changed.wait()
            return None

    def lessons(self, start: int = 0) -> list[Lesson]:
        return self._lessons[start:]

    def end(self, task: Task) -> None:
        with self._changed:
            del self._running[task]

    def next_number(self) -> int:
        return next(self._numbers)


class _Seat:
    """A thread and the process that it calls; when the process dies it gets another."""

    def __init__(self, pool: Pool, number: int) -> None:
        self.taught_count = 0
        self._pool = pool
        self._child: ChildProcess | None = None
        self._call_number = 0
        """Of the call that runs; 0: none."""
        self._thread = threading.Thread(target=self._work, name=f"process-{number}", daemon=True)
        self._thread.start()

    def join(self) -> None:
        if self._thread is not threading.current_thread():
            self._thread.join()

    def tell_cancelled(self) -> None:
        child, number = self._child, self._call_number
        if child is not None and number:
            child.tell_cancelled(number)

    def kill(self, why: str) -> None:
        if self._child is not None:
            self._child.kill(why)

    def _work(self) -> None:
        self._renew()
        while (order := self._pool.next(self)) is not None:
            if isinstance(order, Task):
                outcome = self._perform(order)
                self._pool.end(order)
                self._pool.finish(order, outcome)
                self._renew()
            else:
                self._teach(order)
        if self._child is not None:
            self._child.stop(_STOP_SECONDS)

    def _teach(self, lessons: list[Lesson]) -> None:
        self.taught_count += len(lessons)
        for lesson in lessons:
            if self._child is not None:
                self._child.tell(lesson)

    def _renew(self) -> Failure | None:
        """A process that lives, warm for the next call; or why there is none."""
        if self._child is not None and self._child.is_alive:
            return None
        lessons = self._pool.lessons()
        try:
            self._child = ChildProcess(self._pool.greet(), lessons)
        except OSError as error:
            self._child = None
            log.error("no process can be started for handlers: %s", error)
            text = f"no process can be started for the handler: {error}"
            return Failure(type=DIED, message=text, bases=(DIED,), has_started=False)
        self.taught_count = len(lessons)
        return None

    def _perform(self, task: Task) -> Outcome | None:
        """None: nobody wants it any more."""
        failure = self._renew()
        if failure is not None:
            return failure
        if task.is_cancelled:
            return None
        assert self._child is not None and task.snapshot is not None
        method, snapshot = task.bound.method, task.snapshot
        self._call_number = number = self._pool.next_number()
        fields = {name: getattr(snapshot, name) for name in _FIELDS}
        begin = Begin(number, snapshot.flow.hash, method.kind, method.name, fields, self._pool.trace(task))
        self._pool.begin(task)
        try:
            return self._child.call(begin, partial(self._pool.beat, task))
        except Exception as error:  # what cannot be pickled
            return failure_of(error)
        finally:
            self._call_number = 0
