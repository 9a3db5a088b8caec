"""Calls of handlers: scripted ones answer from the rehearsal, real ones are the bound Python functions."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.events import Failure
from orchestrator.definition.model import Flow
from orchestrator.simulate.script import REAL, CallKey, CallKind, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.binding.registry import Bindings
    from orchestrator.core.snapshot import Snapshot

SearchPath: TypeAlias = "Iterable[str | Path]"


class CallEnd(NamedTuple):
    """How one call ends, and how long after its beginning (virtual time)."""

    takes: timedelta
    outcome: Returned | Failure


class BoundFlows:
    """The real handlers of flows, imported when first asked for; shared by all rehearsals of a process."""

    def __init__(self, search_path: SearchPath = (".",)) -> None:
        self._search_path = tuple(search_path)
        self._bindings: dict[str, Bindings] = {}

    def handler(self, flow: Flow, key: CallKey) -> BoundHandler:
        """Raises DefinitionInvalid for a function that cannot be called."""
        bindings = self._of(flow)
        match key.kind:
            case CallKind.EXECUTE:
                return bindings.execute(key.name)
            case CallKind.WAIT_FOR:
                return bindings.wait_for(key.name)
            case CallKind.RPC:
                return bindings.rpc(key.name)

    def _of(self, flow: Flow) -> Bindings:
        from orchestrator.binding.registry import Bindings

        if flow.hash not in self._bindings:
            self._bindings[flow.hash] = Bindings(flow, self._search_path)
        return self._bindings[flow.hash]


class Calls:
    """The script applies to one flow; handlers of all other flows are real."""

    def __init__(
        self, flow: Flow, replies: Mapping[CallKey, tuple[Reply, ...]], bound: BoundFlows | None = None
    ) -> None:
        self._flow = flow
        self._replies = replies
        self._bound = bound or BoundFlows()
        self._counts: dict[CallKey, int] = {}

    def call(self, flow: Flow, key: CallKey, snapshot: Snapshot, services: Services) -> CallEnd:
        reply = self._next_reply(flow, key)
        if reply.is_real:
            return CallEnd(reply.takes, self._call_real(flow, key, snapshot, services))
        if reply.failure is not None:
            return CallEnd(reply.takes, reply.failure)
        return CallEnd(reply.takes, Returned(reply.result, reply.choice, reply.wait, reply.effects))

    def _next_reply(self, flow: Flow, key: CallKey) -> Reply:
        """One a call; the last one repeats."""
        replies = self._replies.get(key) if flow.hash == self._flow.hash else None
        if not replies:
            return REAL
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        return replies[min(count, len(replies) - 1)]

    def _call_real(
        self, flow: Flow, key: CallKey, snapshot: Snapshot, services: Services
    ) -> Returned | Failure:
        handler = self._bound.handler(flow, key)
        try:
            if handler.is_async:
                return _complete(handler.async_invoke(snapshot, services))
            return handler.invoke(snapshot, services)
        except (Exception, SystemExit) as error:
            return failure_of(error)


def _complete(call: Coroutine[Any, Any, Returned]) -> Returned:
    """On a loop of its own thread: the call may come from inside another coroutine, through `ctx.client`."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(call)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, call).result()
