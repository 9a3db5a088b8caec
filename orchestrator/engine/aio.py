"""The client in `async def` code: `await client.aio.rpc(...)`.

What only has to be committed needs no thread of its own: the event loop enters it, a thread of the engine
commits it, together with what else the loop has entered in that turn.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from orchestrator.definition.model import Flow, Json
from orchestrator.engine import wishes
from orchestrator.engine.ids import random_id
from orchestrator.engine.submission import Receipt, Started, Wish

if TYPE_CHECKING:
    from orchestrator.engine.client import Client
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.startable import Startable


class AsyncClient:
    """The methods of `Client`, to be awaited.

    A call that looks at the store, or calls a handler, has a thread of its own: a pool would be full of those
    that wait for what the others start.
    """

    def __init__(self, client: Client, startable: Startable) -> None:
        self._client = client
        self._startable = startable
        self._answers: WeakKeyDictionary[asyncio.AbstractEventLoop, Answers] = WeakKeyDictionary()

    async def start(
        self, flow: Flow | str | Path, flow_id: str, input: Json = None, **options: Any
    ) -> Started:
        known = self._startable
        found = known.find(flow) if known.is_known(flow) else await _in_thread(partial(known.find, flow))
        options["request_id"] = options.get("request_id") or random_id()
        wish = wishes.start(found, known.children_of(found), flow_id, input, **options)
        started: Started = await self._have(wish)
        return started

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if not callable(method):
            raise AttributeError(f"`aio` has the client's methods; `{name}` is none")
        wish = wishes.OF_RUNS.get(name)

        async def call(*arguments: Any, **options: Any) -> Any:
            if wish is not None:
                return await self._have(wish(*arguments, **options))
            return await _in_thread(partial(method, *arguments, **options))

        return call

    async def _have(self, wish: Wish) -> Any:
        loop = asyncio.get_running_loop()
        answers = self._answers.get(loop)
        if answers is None:
            answers = self._answers[loop] = Answers(loop, self._client.engine)
        return await answers.to(wish)


class Answers:
    """What commits answer to those who wait in one event loop: they are told of a commit together."""

    def __init__(self, loop: asyncio.AbstractEventLoop, engine: Engine) -> None:
        self._loop = ref(loop)
        self._engine = engine
        self._answered: deque[_Receipt] = deque()
        self._is_called = False
        """The loop will look at what is answered."""
        self._will_lead = False

    def to(self, wish: Wish) -> asyncio.Future[Any]:
        """In the loop. Its commit begins when all have spoken who do so in this turn of the loop."""
        loop = asyncio.get_running_loop()
        wish.receipt = receipt = _Receipt(self, loop.create_future())
        self._engine.enter(wish)
        if not self._will_lead:
            self._will_lead = True
            loop.call_soon(self._lead)
        return receipt.answer

    def tell(self, receipt: _Receipt) -> None:
        """In any thread."""
        self._answered.append(receipt)
        loop = self._loop()
        if self._is_called or loop is None:
            return
        self._is_called = True
        try:
            loop.call_soon_threadsafe(self._give)
        except RuntimeError:
            return  # the loop has been closed meanwhile: nobody waits any more

    def _lead(self) -> None:
        self._will_lead = False
        self._engine.lead_elsewhere()

    def _give(self) -> None:
        self._is_called = False
        while self._answered:
            self._answered.popleft().give()


class _Receipt(Receipt):
    """Its owner waits in an event loop."""

    __slots__ = ("_answers", "answer")

    def __init__(self, answers: Answers, answer: asyncio.Future[Any]) -> None:
        super().__init__()
        self._answers = answers
        self.answer = answer

    def fulfil(self, value: Any) -> None:
        super().fulfil(value)
        self._answers.tell(self)

    def refuse(self, error: BaseException) -> None:
        super().refuse(error)
        self._answers.tell(self)

    def give(self) -> None:
        """In the loop, once."""
        if self.answer.done():
            return  # who waited was cancelled
        try:
            value = self.result()
        except BaseException as error:
            self.answer.set_exception(error)
        else:
            self.answer.set_result(value)


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
