"""One child process, as the worker sees it."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from orchestrator.binding.invoke import Returned
from orchestrator.core.events import Failure
from orchestrator.definition.model import Json
from orchestrator.engine.processes.wire import (
    Beaten,
    Begin,
    Broken,
    Cancelled,
    Done,
    Hello,
    Lesson,
    Logged,
    Message,
    Printed,
    Ready,
    Stop,
    Wire,
)

DIED = "ProcessDied"
"""The type of the failure of an attempt whose process ended before the handler did."""
_BEGINNING = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from orchestrator.engine.processes.child import main; main()"
)
_LOGGERS = ("", "orchestrator")
Beat = Callable[[Json], None]
"""The value of a heartbeat."""


class _Call:
    """The one that runs."""

    def __init__(self, number: int, beat: Beat) -> None:
        self.number = number
        self.beat = beat
        self.ended = threading.Event()
        self.outcome: Returned | Failure | None = None

    def end(self, outcome: Returned | Failure) -> None:
        if not self.ended.is_set():
            self.outcome = outcome
            self.ended.set()


class ChildProcess:
    """Started when it is made, by an interpreter of its own: forking a process that has threads is unsafe.

    `call` is for one thread at a time; all else may be called by any.
    """

    def __init__(self, hello: Hello, lessons: Iterable[Lesson]) -> None:
        """Raises OSError."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGINNING, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._wire = Wire(self._process.stdout, self._process.stdin)
        self._running: _Call | None = None
        self._lock = threading.Lock()
        self._is_ready = self._is_killed = False
        self._end: Failure | None = None
        """Why it is no more."""
        self._why: str | None = None
        """Said by whoever ends it on purpose."""
        self._reader = threading.Thread(target=self._read, name=f"child-{self.pid}", daemon=True)
        self._reader.start()
        self.tell(hello)
        for lesson in lessons:
            self.tell(lesson)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._end is None and not self._is_killed

    def tell(self, message: Hello | Lesson | Stop) -> None:
        with suppress(Broken):
            self._wire.send(message)

    def call(self, begin: Begin, beat: Beat) -> Returned | Failure:
        """What the handler made of it; if the process ends before, a failure that says how."""
        call = _Call(begin.number, beat)
        with self._lock:
            if self._end is not None:
                return self._end
            self._running = call
        try:
            with suppress(Broken):  # then it is ending, and the reader says so
                self._wire.send(begin)
            call.ended.wait()
        finally:
            with self._lock:
                self._running = None
        assert call.outcome is not None
        return call.outcome

    def tell_cancelled(self, number: int) -> None:
        with suppress(Broken):
            self._wire.send(Cancelled(number))

    def kill(self, why: str | None = None) -> None:
        """Whatever it does."""
        self._is_killed = True
        self._why = self._why or why
        self._process.kill()

    def stop(self, seconds: float) -> None:
        """Let it end by itself, but no longer than this."""
        self.tell(Stop())
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._reader.join()

    # --- What it says ---

    def _read(self) -> None:
        while True:
            try:
                message = self._wire.receive()
            except Broken as error:
                self.kill(f"it said what is not understood: {error}")
                break
            if message is None:
                break
            self._hear(message)
        self._process.wait()
        self._wire.close()
        end = _ended(self._process.returncode, self._why, is_ready=self._is_ready)
        with self._lock:
            self._end = end
            if self._running is not None:
                self._running.end(end)

    def _hear(self, message: Message) -> None:
        call = self._running
        if isinstance(message, Ready):
            self._is_ready = True
        elif isinstance(message, Logged):
            record = logging.makeLogRecord(message.fields)
            logger = logging.getLogger(record.name)
            if logger.isEnabledFor(record.levelno):
                logger.handle(record)
        elif isinstance(message, Printed):
            print(message.text)
        elif call is not None and isinstance(message, Beaten) and message.number == call.number:
            call.beat(message.value)
        elif call is not None and isinstance(message, Done) and message.number == call.number:
            call.end(message.outcome)


def levels() -> tuple[tuple[str, int], ...]:
    """Of the loggers here, for a Hello."""
    return tuple((name, logging.getLogger(name).getEffectiveLevel()) for name in _LOGGERS)


def _ended(code: int, why: str | None, *, is_ready: bool) -> Failure:
    if why is not None:
        text = f"the process of the handler was ended: {why}"
    elif not is_ready:
        text = f"the process of the handler could not start: {_how(code)}"
    else:
        text = f"the process of the handler ended before it: {_how(code)}"
    return Failure(type=DIED, message=text, bases=(DIED,), has_started=is_ready)


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    advice = "; was it out of memory?" if name == "SIGKILL" else ""
    return f"signal {-code} ({name}){advice}"
