"""A child process: calls one handler after the other. `main` begins with its pipes on stdin and stdout."""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import os
import queue
import signal
import sys
import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from msgspec.structs import replace

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.binding.method import MethodKind
from orchestrator.binding.mistakes import HandlerMistake
from orchestrator.binding.registry import Bindings
from orchestrator.core.events import Failure
from orchestrator.core.snapshot import Snapshot
from orchestrator.definition.model import Flow, Json
from orchestrator.engine.processes.wire import (
    Beaten,
    Begin,
    Broken,
    Cancelled,
    Done,
    Hello,
    Lesson,
    Logged,
    Printed,
    Ready,
    Wire,
)
from orchestrator.errors import DefinitionInvalid

_PLAIN = (str, int, float, bool, type(None))
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def main() -> None:
    wire = _take_pipes()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # the worker says when to stop; it drains
    hello = wire.receive()
    if isinstance(hello, Hello):
        Child(wire, hello).work()


def _take_pipes() -> Wire:
    """Handlers get an empty stdin, and what writes to the descriptor of stdout ends on stderr."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    with suppress(RuntimeError, ValueError, OSError):
        faulthandler.enable(2)
    return Wire(incoming, outgoing)


class Child:
    def __init__(self, wire: Wire, hello: Hello) -> None:
        self._wire = wire
        self._hello = hello
        self._flows: dict[str, tuple[Flow, Bindings]] = {}
        self._unlearnt: dict[str, Exception] = {}
        self._to_do: queue.SimpleQueue[Lesson | Begin | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._client: Any = None
        self._client_lock = threading.Lock()

    def work(self) -> None:
        _log_to(self._wire, self._hello.levels)
        printed = _PrintedLines(self._wire)
        sys.stdout = printed
        threading.Thread(target=self._listen, name="worker's voice", daemon=True).start()
        self._wire.send(Ready())
        while (item := self._to_do.get()) is not None:
            if isinstance(item, Lesson):
                self._learn(item)
            else:
                outcome = self._call(item)
                printed.end_line()
                self._answer(item.number, outcome)
        if self._client is not None:
            self._client.close()

    def _listen(self) -> None:
        """When the worker is gone nobody wants the result."""
        while True:
            try:
                message = self._wire.receive()
            except Broken:
                message = None
            if message is None:
                os._exit(1)
            if isinstance(message, Cancelled):
                self._cancelled.add(message.number)
            elif isinstance(message, Lesson | Begin):
                self._to_do.put(message)
            else:
                self._to_do.put(None)
                return

    def _learn(self, lesson: Lesson) -> None:
        from orchestrator.definition.parse import parse

        try:
            flow, problems = parse(lesson.text, lesson.path)
            if flow is None:
                raise DefinitionInvalid("; ".join(problem.concise() for problem in problems))
            self._flows[lesson.hash] = flow, Bindings(flow, self._hello.search_path)
        except Exception as error:
            self._unlearnt[lesson.hash] = error

    # --- One call ---

    def _call(self, begin: Begin) -> Returned | Failure:
        try:
            if begin.definition in self._unlearnt:
                raise self._unlearnt[begin.definition]
            flow, bindings = self._flows[begin.definition]
            bound = _find(bindings, begin)
            snapshot = Snapshot(flow=flow, **begin.snapshot)
        except Exception as error:
            return replace(failure_of(error), has_started=False)
        try:
            with _span_of(begin):
                return _invoke(bound, snapshot, self._services(begin.number))
        except BaseException as error:  # SystemExit and its like end a handler, not the process
            return failure_of(error)

    def _answer(self, number: int, outcome: Returned | Failure) -> None:
        self._cancelled.discard(number)
        try:
            self._wire.send(Done(number, outcome))
        except Broken:
            os._exit(1)
        except Exception as error:
            self._wire.send(Done(number, failure_of(error)))

    def _services(self, number: int) -> Services:
        def beat(value: Json) -> None:
            with suppress(Broken):
                self._wire.send(Beaten(number, value))

        return Services(
            is_cancelled=lambda: number in self._cancelled,
            heartbeat=beat,
            open_client=self._open_client,
        )

    def _open_client(self) -> Any:
        from orchestrator.engine.client import Client

        if self._hello.store is None:
            raise HandlerMistake(
                "there is no client in a process of its own where values are encoded or kept in memory: "
                "use it in another step, or run this handler in the worker itself"
            )
        with self._client_lock:
            if self._client is None:
                self._client = Client(
                    self._hello.store,
                    search_path=self._hello.search_path,
                    attribute_store=self._hello.attribute_store,
                )
            return self._client


def _find(bindings: Bindings, begin: Begin) -> BoundHandler:
    if begin.kind is MethodKind.WAIT_FOR:
        return bindings.wait_for(begin.name)
    return bindings.execute(begin.name)


def _span_of(begin: Begin) -> AbstractContextManager[None]:
    if not begin.trace:
        return nullcontext()
    from orchestrator.engine.tracing import continued

    return continued(begin.trace)


def _invoke(bound: BoundHandler, snapshot: Snapshot, services: Services) -> Returned:
    if bound.is_async:
        return asyncio.run(bound.async_invoke(snapshot, services))
    return bound.invoke(snapshot, services)


# --- What handlers say ---


def _log_to(wire: Wire, levels: tuple[tuple[str, int], ...]) -> None:
    logging.getLogger().addHandler(_Sender(wire))
    for name, level in levels:
        logging.getLogger(name).setLevel(level)


class _Sender(logging.Handler):
    """Everything is logged by the worker, as it logs what its own handlers say."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._wire.send(Logged(_fields_of(record)))
        except Broken:
            return
        except Exception:
            self.handleError(record)


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    fields = {
        "name": record.name,
        "levelno": record.levelno,
        "levelname": record.levelname,
        "msg": record.getMessage(),
        "created": record.created,
        "process": record.process,
        "processName": record.processName,
        "threadName": record.threadName,
        "pathname": record.pathname,
        "filename": record.filename,
        "module": record.module,
        "lineno": record.lineno,
        "funcName": record.funcName,
        "stack_info": record.stack_info,
        "exc_text": logging.Formatter().formatException(record.exc_info) if record.exc_info else None,
    }
    for name, value in vars(record).items():
        if name not in _OF_EVERY_RECORD:
            fields[name] = value if type(value) in _PLAIN else repr(value)
    return fields


class _PrintedLines(io.TextIOBase):
    """Stands in for stdout; every line goes to the worker's."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._begun = ""
        self._lock = threading.Lock()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            with suppress(Broken):
                for line in lines:
                    self._wire.send(Printed(line))
        return len(text)

    def flush(self) -> None:
        """Half a line waits for its end, or for that of the call."""

    def end_line(self) -> None:
        if self._begun:
            self.write("\n")
