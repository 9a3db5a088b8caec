"""What event loops have of the engine: answers of commits, looks at runs, calls in threads of their own."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from orchestrator.engine.submission import Receipt, Wish

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.engine.waiting import Patience

T = TypeVar("T")


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


async def in_thread(call: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

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
