"""The threads of a worker: how many there may be, and what to do where the machine has fewer."""

from __future__ import annotations

import threading

from orchestrator.engine.arguments import positive
from orchestrator.errors import UsageError

MOST_THREADS = 10_000
"""More of them only wait for each other; `async def` handlers need none, and other workers share the work."""
_CAUSE = "ask for fewer, or raise the limit on threads (`ulimit -u`, `ulimit -v`, that of the container)"


def demand_concurrency(value: object) -> int:
    """Raises UsageError."""
    wanted = positive(value, "concurrency")
    if wanted > MOST_THREADS:
        raise UsageError(
            f"concurrency is at most {MOST_THREADS}, not {wanted}: each handler that runs has a thread; "
            "more workers share the work"
        )
    return wanted


def begin(thread: threading.Thread, begun_count: int, wanted: int) -> None:
    """Raises UsageError where the machine has no more."""
    try:
        thread.start()
    except (RuntimeError, MemoryError) as error:
        raise UsageError(
            f"concurrency {wanted} is more than this machine allows now: "
            f"there are no more threads after {begun_count} ({error}); {_CAUSE}"
        ) from None
