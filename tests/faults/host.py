"""Forks workers and clients: `python -m tests.faults.host` reads one order a line and answers one a line.

Everything is imported here once, so that a process begins in an instant. Orders: `{"role", "log", …}`,
answered by `{"pid"}`. `{"ended": pid, "status"}` is told of each that ends. Whoever is left when the orders
end is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

from orchestrator.engine import coroutines, inside
from orchestrator.store import postgres, sqlite
from tests.faults.roles import ROLES, SIGNALS

__all__ = ["coroutines", "inside", "postgres", "sqlite"]
"""Imported here, so that the forked ones need not."""

_living: set[int] = set()


def main() -> None:
    signal.signal(signal.SIGCHLD, _reap)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    for line in sys.stdin:
        order = json.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = _fork(order)
        _living.add(pid)
        _tell({"pid": pid})
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for pid in list(_living):
        os.kill(pid, signal.SIGKILL)


def _reap(number: int, frame: FrameType | None) -> None:
    """May interrupt itself: then what the outer one has just been told is still among the living."""
    while _living:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _living.discard(pid)
        _tell({"ended": pid, "status": os.waitstatus_to_exitcode(status)})


def _fork(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        ROLES[order["role"]](order)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _tell(what: dict[str, int]) -> None:
    os.write(1, (json.dumps(what) + "\n").encode())


if __name__ == "__main__":
    main()
