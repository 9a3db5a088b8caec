"""One function over many files, in several processes where that is worth their start. Order stays.

Measured on two cores with little else running: a flow of 70 lines takes 4 ms, two forked workers gain from
50 files on and halve the time of 340. Interpreters of their own need 0.4 s to import what they work with.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

FORKING_FROM = 100
"""Items from which forked workers gain."""
SPAWNING_FROM = 800
"""Items from which workers gain that are interpreters of their own."""
_WORKER_LIMIT = 8
_CHUNK = 16


def each(
    work: Callable[[_Item], _Result], items: Sequence[_Item], *, worker_count: int | None = None
) -> Iterator[_Result]:
    """The results in the order of the items. `worker_count`: as many, however few items there are."""
    method = _start_method()
    least = FORKING_FROM if method == "fork" else SPAWNING_FROM
    if worker_count is None:
        worker_count = min(_cpu_count(), _WORKER_LIMIT) if len(items) >= least else 1
    if worker_count < 2:
        yield from map(work, items)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(worker_count, context, initializer=_leave_interrupts_to_the_parent) as pool:
        yield from pool.map(work, items, chunksize=_CHUNK)


def _start_method() -> str:
    """Forking copies one thread only, so it is for processes that have one only."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def _cpu_count() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
