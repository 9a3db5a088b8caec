"""Calls of handlers that somebody waits for: in a thread of their own, for a limited time."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from msgspec.structs import replace

from orchestrator.binding.context import Services
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.snapshot import Snapshot

LONGEST = 60.0
"""Seconds: of an RPC (rule 172), and of a handler inside a transaction: nothing else commits meanwhile."""


class OutOfTime(Exception):
    """The handler is left behind; what it still returns is ignored."""


def invoke_within(bound: BoundHandler, snapshot: Snapshot, services: Services, seconds: float) -> Returned:
    """Raises what the handler raises, or OutOfTime. `ctx.cancelled` is true once the time is over."""
    call = _Call(bound, snapshot, services)
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(call.run,), name=f"call-{bound.method.name}")
    thread.daemon = True
    thread.start()
    if not call.ended.wait(seconds):
        call.is_given_up = True
        raise OutOfTime(f"not finished within {seconds:g} s")
    if call.error is not None:
        raise call.error
    assert call.returned is not None
    return call.returned


class _Call:
    def __init__(self, bound: BoundHandler, snapshot: Snapshot, services: Services) -> None:
        self.ended = threading.Event()
        self.returned: Returned | None = None
        self.error: BaseException | None = None
        self.is_given_up = False
        self._bound = bound
        self._snapshot = snapshot
        self._services = replace(services, is_cancelled=self._is_cancelled(services.is_cancelled))

    def run(self) -> None:
        try:
            self.returned = self._invoke()
        except BaseException as error:  # SystemExit and its like end a handler, not the caller
            self.error = error
        self.ended.set()

    def _invoke(self) -> Returned:
        if not self._bound.is_async:
            return self._bound.invoke(self._snapshot, self._services)
        import asyncio

        return asyncio.run(self._bound.async_invoke(self._snapshot, self._services))

    def _is_cancelled(self, elsewhere: Callable[[], bool]) -> Callable[[], bool]:
        return lambda: self.is_given_up or elsewhere()
