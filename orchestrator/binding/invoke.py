"""One call of a handler: snapshot in, result and effects out. The only place where user code runs."""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from orchestrator.binding.context import Context, Services, effects_of
from orchestrator.binding.convert import Converter, NotJson, to_json
from orchestrator.binding.method import Method, MethodKind
from orchestrator.binding.mistakes import InvalidInput, InvalidResult, hint
from orchestrator.binding.waits import Choice, check_wait
from orchestrator.core.events import NO_EFFECTS, HandlerEffects, HandlerWait
from orchestrator.definition.model import Json

if TYPE_CHECKING:
    from orchestrator.core.snapshot import Snapshot


class Returned(Struct, frozen=True, gc=False):
    """What one successful call gives to the commit."""

    result: Json = None
    choice: str | None = None
    wait: HandlerWait | None = None
    effects: HandlerEffects = NO_EFFECTS


class BoundHandler:
    """A function that the definition names, with its calling convention planned."""

    __slots__ = (
        "_convert",
        "_function",
        "_hides_coroutine",
        "is_async",
        "is_elsewhere",
        "method",
        "runs_in_process",
        "takes_context",
    )

    def __init__(
        self,
        method: Method,
        function: Callable[..., Any],
        *,
        takes_context: bool,
        convert: Converter | None,
        is_async: bool,
        hides_coroutine: bool = False,
    ) -> None:
        self.method = method
        self.is_async = is_async
        self.runs_in_process = False
        """Called in a process of its own: whoever calls it sees to that."""
        self.is_elsewhere = is_async and not method.handler.transactional
        """Not called in a handler thread, but in a process or in the event loop."""
        self._function = function
        self.takes_context = takes_context
        self._hides_coroutine = hides_coroutine
        """A plain function that wraps an `async def` one; it may return the coroutine or what came of it."""
        self._convert = convert
        """None: the function takes no input."""

    @property
    def function(self) -> Callable[..., Any]:
        return self._function

    def move_to_process(self) -> None:
        self.runs_in_process = self.is_elsewhere = True

    @property
    def takes_input(self) -> bool:
        return self._convert is not None

    def invoke(self, snapshot: Snapshot, services: Services) -> Returned:
        """Call a plain function. What it raises passes through; see `failure_of`."""
        context = Context(self.method, snapshot, services) if self.takes_context else None
        returned = self._function(*self._arguments(context, snapshot))
        if self._hides_coroutine and isinstance(returned, CoroutineType):
            returned = _run(returned)
        return self._conclude(context, returned)

    async def async_invoke(self, snapshot: Snapshot, services: Services) -> Returned:
        """Call an `async def` function in the running loop."""
        context = Context(self.method, snapshot, services) if self.takes_context else None
        return self._conclude(context, await self._function(*self._arguments(context, snapshot)))

    def _arguments(self, context: Context | None, snapshot: Snapshot) -> tuple[Any, ...]:
        if self._convert is None:
            return () if context is None else (context,)
        try:
            converted = self._convert(snapshot.execution.input)
        except Exception as error:
            raise InvalidInput(f"the input of {self.method.owner} does not convert: {error}") from error
        return (converted,) if context is None else (context, converted)

    def _conclude(self, context: Context | None, returned: object) -> Returned:
        effects = NO_EFFECTS if context is None else effects_of(context)
        method = self.method
        if method.kind is MethodKind.WAIT_FOR:
            return Returned(wait=check_wait(returned, method.conditions, method.owner), effects=effects)
        if isinstance(returned, Choice):
            _demand_choice(method, returned.word)
            return Returned(_plain(method, returned.value), returned.word, None, effects)
        if isinstance(returned, HandlerWait):
            raise InvalidResult(f"{method.owner} returned a wait; only wait_for handlers wait")
        return Returned(_plain(method, returned), None, None, effects)


def _run(coroutine: CoroutineType[Any, Any, Any]) -> object:
    """The result of what a decorated `async def` returned through a plain wrapper.

    In a thread that has a running loop it is handed on as it is, and refused with advice.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return coroutine


def _demand_choice(method: Method, word: str) -> None:
    if word not in method.choices:
        advice = hint(word, method.choices)
        raise InvalidResult(f"{method.owner} chose `{word}`, but no decision has this choice{advice}")


def _plain(method: Method, returned: object) -> Json:
    """The declared type of the result is checked in the commit."""
    try:
        return to_json(returned)
    except NotJson as problem:
        raise InvalidResult(f"the result of {method.owner} is not JSON: {problem}") from problem
