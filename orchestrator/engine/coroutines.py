"""`async def` handlers: all in one event loop, in a thread of its own, which never writes to the database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from orchestrator.binding.context import Services
from orchestrator.engine.task import Task

Finish = Callable[[Task, object], None]
"""(task, what it returned or raised)."""


class CoroutineLoop:
    """Begins with the first task."""

    def __init__(self, services: Callable[[Task], Services], finish: Finish) -> None:
        self._services = services
        self._finish = finish
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._running: dict[asyncio.Task[None], Task] = {}

    def begin(self, tasks: list[Task]) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, name="coroutines", daemon=True)
            self._thread.start()
        self._loop.call_soon_threadsafe(self._begin, tasks)

    def cancel(self, task: Task) -> None:
        """It has been given up."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel, task)

    def _cancel(self, task: Task) -> None:
        for running, of in self._running.items():
            if of is task:
                running.cancel()

    def stop(self) -> None:
        """Cancels what still runs."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop = self._thread = None

    def _run(self) -> None:
        loop = self._loop
        assert loop is not None
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            for task in self._running:
                task.cancel()
            if self._running:
                loop.run_until_complete(asyncio.wait(self._running, timeout=1))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def _begin(self, tasks: list[Task]) -> None:
        assert self._loop is not None
        for task in tasks:
            running = self._loop.create_task(self._call(task))
            self._running[running] = task
            running.add_done_callback(self._running.pop)

    async def _call(self, task: Task) -> None:
        if task.is_cancelled:
            return
        assert task.snapshot is not None
        try:
            async with asyncio.timeout(task.timeout):
                returned: object = await task.bound.async_invoke(task.snapshot, self._services(task))
        except TimeoutError as error:
            returned = error
        except asyncio.CancelledError:
            return
        except Exception as error:
            returned = error
        self._finish(task, returned)
