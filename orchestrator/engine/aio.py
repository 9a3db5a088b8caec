"""The client in `async def` code: `await client.aio.rpc(...)`.

What only has to be committed needs no thread of its own: the event loop enters it, a thread of the engine
commits it, together with what else the loop has entered in that turn. Nor does waiting for a run: a few
threads look at the store for all who wait.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from orchestrator.definition.model import Flow, Json
from orchestrator.engine import awaiting, wishes
from orchestrator.engine.ids import random_id
from orchestrator.engine.inside import demand_outside
from orchestrator.engine.submission import Receipt, Started, Wish

if TYPE_CHECKING:
    from orchestrator.engine.client import Client
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.startable import Startable
    from orchestrator.engine.waiting import Patience

_LOOKER_COUNT = 4


class AsyncClient:
    """The methods of `Client`, to be awaited.

    What calls a handler has a thread of its own: a pool would be full of those that wait for others.
    """

    def __init__(self, client: Client, startable: Startable) -> None:
        self._client = client
        self._startable = startable
        self._answers: WeakKeyDictionary[asyncio.AbstractEventLoop, Answers] = WeakKeyDictionary()
        self._lookers = ThreadPoolExecutor(_LOOKER_COUNT, "client-look")

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
        wish, wait = wishes.OF_RUNS.get(name), awaiting.OF_RUNS.get(name)

        async def call(*arguments: Any, **options: Any) -> Any:
            if wish is not None:
                return await self._have(wish(*arguments, **options))
            if wait is not None:
                demand_outside()  # threads that look do not know who waits
                bell = Bell(asyncio.get_running_loop())
                patience = wait(self._client.engine, bell, *arguments, **options)
                return await self._sit_out(Turns(patience), bell)
            return await _in_thread(partial(method, *arguments, **options))

        return call

    async def _have(self, wish: Wish) -> Any:
        loop = asyncio.get_running_loop()
        answers = self._answers.get(loop)
        if answers is None:
            answers = self._answers[loop] = Answers(loop, self._client.engine)
        return await answers.to(wish)

    async def _sit_out(self, turns: Turns, bell: Bell) -> Any:
        loop = asyncio.get_running_loop()
        try:
            while not turns.are_over:
                await bell.wait(await loop.run_in_executor(self._lookers, turns.take))
        finally:
            if not turns.are_over:
                self._end(turns)
        return turns.found

    def _end(self, turns: Turns) -> None:
        """A look may be under way: it is not waited for here."""
        try:
            self._lookers.submit(turns.end)
        except RuntimeError:
            turns.end()  # the client was closed meanwhile

    def end_looks(self) -> None:
        """Waits for those that are under way."""
        self._lookers.shutdown()


class Turns:
    """The looks of one who waits, in whatever thread has time."""

    def __init__(self, patience: Patience[Any]) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self.are_over = False
        self.found: Any = None

    def take(self) -> float | None:
        """As `Patience`; 0 when they are over. Raises what the look does."""
        with self._lock:
            try:
                return next(self._patience)
            except StopIteration as end:
                self.are_over, self.found = True, end.value
                return 0

    def end(self) -> None:
        with self._lock:
            self._patience.close()


class Bell:
    """Rung in any thread, heard in an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._rung = asyncio.Event()

    def set(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._rung.set)
        except RuntimeError:
            return  # the loop has been closed meanwhile: nobody waits any more

    async def wait(self, seconds: float | None) -> None:
        if seconds == 0:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()


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
