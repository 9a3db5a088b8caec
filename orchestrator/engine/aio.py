"""The client in `async def` code: `await client.aio.rpc(...)`."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.engine.client import Client


class AsyncClient:
    """The methods of `Client`, to be awaited.

    Each call has a thread of its own: a pool would be full of those that wait for what the others start.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if not callable(method):
            raise AttributeError(f"`aio` has the client's methods; `{name}` is none")

        async def call(*arguments: Any, **options: Any) -> Any:
            return await _in_thread(partial(method, *arguments, **options))

        return call


async def _in_thread(call: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if ended.done():
            return
        if error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(tell, result, error)
        except RuntimeError:
            return  # the loop has been closed meanwhile: nobody waits any more

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="client-call", daemon=True).start()
    return await ended
