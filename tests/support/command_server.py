"""Forks a process for each command it is asked for; `tests.support.commands` starts it and speaks with it.

What commands load is imported once, here. Each command then is a process like any other, with an end of its
own; it begins where `python -m orchestrator` is when it has imported what it needs, and ends when nothing is
left to do but to take the interpreter apart.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # the directory of this file, which commands do not see

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import orchestrator

LOADED_BY_FEW = (
    "orchestrator.__main__",
    "orchestrator.cli.templates",
    "orchestrator.engine.tracing",
    "orchestrator.store.migrations",
)
OF_OTHERS = (
    "cel_expr_python.cel",
    "cel_expr_python.ext",
    "graphviz",
    "jsonschema",
    "msgspec.inspect",
    "networkx",
    "resvg_py",
    "rich.live",
    "rich.progress",
)


class Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._bell, rung = os.pipe()
        os.set_blocking(rung, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(rung)
        self._own = [connection.fileno(), self._bell, rung]
        self._listeners: dict[int, int] = {}
        """Who is told of the end of which process."""

    def serve(self) -> dict[str, Any] | None:
        """In each forked process, the command it is to be; at last None."""
        asking = self._connection.fileno()
        while True:
            ready, _, _ = select.select([self._bell, asking], [], [])
            if self._bell in ready:
                os.read(self._bell, 4096)
                self._tell_ends()
            if asking in ready:
                asked = self._receive()
                if asked is None:
                    return None
                request, streams = asked
                if (process := os.fork()) == 0:
                    self._leave(streams)
                    return request
                *given, self._listeners[process] = streams
                for stream in given:
                    os.close(stream)
                self._connection.sendall(process.to_bytes(8, "big"))

    def _receive(self) -> tuple[dict[str, Any], list[int]] | None:
        length, streams, _, _ = socket.recv_fds(self._connection, 8, 4)
        if not length:
            return None
        with self._connection.makefile("rb") as incoming:
            request: dict[str, Any] = json.loads(incoming.read(int.from_bytes(length, "big")))
        return request, streams

    def _tell_ends(self) -> None:
        while self._listeners:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            listener = self._listeners.pop(process)
            os.write(listener, os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
            os.close(listener)

    def _leave(self, streams: list[int]) -> None:
        """The streams are what a process has; nothing of the server is left."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        *given, listener = streams
        for number, stream in enumerate(given):
            os.dup2(stream, number)
        for stream in (*given, listener, *self._own, *self._listeners.values()):
            os.close(stream)
        # The server's own is of a device, and taken for one.
        sys.stdout = open(1, "w", encoding="utf-8", errors=sys.stdout.errors, closefd=False)  # noqa: SIM115
        self._connection.detach()


def become(request: dict[str, Any]) -> int:
    """The exit code; what is uncaught ends the interpreter as it would."""
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["directory"])
    sys.path.insert(0, request["directory"])
    sys.argv[1:] = request["arguments"]
    try:
        runpy.run_module("orchestrator", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        return end.code
    return 0


def finish() -> None:
    """What an interpreter does before it takes itself apart, as children of `multiprocessing` do."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()


def import_all() -> None:
    for name in (*_own_modules("orchestrator", orchestrator.__path__), *OF_OTHERS):
        import_module(name)
    gc.collect()
    gc.freeze()


def _own_modules(package: str, path: Any) -> Iterator[str]:
    for found in pkgutil.iter_modules(path, f"{package}."):
        if found.name not in LOADED_BY_FEW:
            yield found.name
            if found.ispkg:
                yield from _own_modules(found.name, import_module(found.name).__path__)


if __name__ == "__main__":
    import_all()
    command = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if command is not None:
        code = become(command)
        finish()
        os._exit(code)
