"""The client in `async def` code: `await client.aio.rpc(...)`.

What only has to be committed needs no thread of its own: the event loop enters it, a thread of the engine
commits it, together with what else the loop has entered in that turn. Nor does waiting for a run: a few
threads look at the store for all who wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from orchestrator.core.reuse import ReusePolicy
from orchestrator.core.travel import Target
from orchestrator.definition.model import Flow, Json, TimeoutPolicy
from orchestrator.engine import awaiting, wishes
from orchestrator.engine.arguments import Span
from orchestrator.engine.ids import random_id
from orchestrator.engine.inside import demand_outside
from orchestrator.engine.loops import Answers, Bell, Turns, in_thread
from orchestrator.engine.submission import Receipt, Started, Wish
from orchestrator.engine.travelling import Travelled

if TYPE_CHECKING:
    from orchestrator.engine.client import Client
    from orchestrator.engine.migrating import Migration
    from orchestrator.engine.startable import Startable
    from orchestrator.engine.waiting import Patience
    from orchestrator.store.sqlite_guest import Connection

_LOOKER_COUNT = 4
T = TypeVar("T")


class AsyncClient:
    """The methods of `Client`, to be awaited.

    What calls a handler has a thread of its own: a pool would be full of those that wait for others.
    """

    def __init__(self, client: Client, startable: Startable) -> None:
        self._client = client
        self._startable = startable
        self._answers: WeakKeyDictionary[asyncio.AbstractEventLoop, Answers] = WeakKeyDictionary()
        self._lookers = ThreadPoolExecutor(_LOOKER_COUNT, "client-look")

    # --- Acting ---

    async def start(
        self,
        flow: Flow | str | Path,
        flow_id: str,
        input: Json = None,
        *,
        reuse_policy: ReusePolicy | str = ReusePolicy.DISALLOW,
        request_id: str | None = None,
        return_existing: bool = False,
        timeout: Span | None = None,
        timeout_policy: TimeoutPolicy | str | None = None,
        delay: Span | None = None,
        attributes: Mapping[str, Json] | None = None,
        config: Mapping[str, Json] | None = None,
    ) -> Started:
        """Start a run; many that are started in one turn of the loop are one commit."""
        known = self._startable
        found = known.find(flow) if known.is_known(flow) else await in_thread(lambda: known.find(flow))
        wish = wishes.start(
            found,
            known.children_of(found),
            flow_id,
            input,
            reuse_policy=reuse_policy,
            request_id=request_id or random_id(),
            return_existing=return_existing,
            timeout=timeout,
            timeout_policy=timeout_policy,
            delay=delay,
            attributes=attributes,
            config=config,
        )
        started: Started = await self._have(wish)
        return started

    async def start_soon(self, flow: Flow | str | Path, flow_id: str, input: Json = None) -> Receipt:
        """Start a run without waiting for the commit; `.result()` of what it gives blocks."""
        return await in_thread(lambda: self._client.start_soon(flow, flow_id, input))

    async def publish(
        self, flow_id: str, channel: str, value: Json = None, key: str | int | None = None
    ) -> None:
        """Send a message to an external channel."""
        await self._have(wishes.publish(flow_id, channel, value, key))

    async def rpc(
        self, flow_id: str, name: str, input: Json = None, *, request_id: str | None = None
    ) -> Json:
        """Call an RPC of the latest run; gives its output."""
        return await in_thread(lambda: self._client.rpc(flow_id, name, input, request_id=request_id))

    async def set_attributes(self, flow_id: str, values: Mapping[str, Json]) -> None:
        """Write attributes in one commit; null deletes."""
        await self._have(wishes.set_attributes(flow_id, values))

    async def update_config(self, flow_id: str, config: Mapping[str, Json]) -> None:
        """Change some keys of a run's configuration."""
        await self._have(wishes.update_config(flow_id, config))

    async def skip_timer(
        self, flow_id: str, step_execution_id: str, condition: str | int | None = None
    ) -> None:
        """Let a timer fire now."""
        await self._have(wishes.skip_timer(flow_id, step_execution_id, condition))

    async def skip_deadline(self, flow_id: str) -> None:
        """Let the run's timeout come now."""
        await self._have(wishes.skip_deadline(flow_id))

    async def retry_now(self, flow_id: str, step_execution_id: str) -> None:
        """End the backing off of a step."""
        await self._have(wishes.retry_now(flow_id, step_execution_id))

    async def stop(self, flow_id: str, stop: str = "cancel", reason: str | None = None) -> None:
        """`stop`: cancel, fail or terminate."""
        await self._have(wishes.stop(flow_id, stop, reason))

    async def time_travel(
        self, flow_id: str, target: Target | None = None, *, reapply: bool = True
    ) -> Travelled:
        """Back to an earlier point of the latest run."""
        travelled: Travelled = await self._have(wishes.time_travel(flow_id, target, reapply=reapply))
        return travelled

    async def migrate(
        self,
        old: Flow | str | Path,
        new: Flow | str | Path,
        *,
        mapping: Iterable[str] = (),
        flow_ids: Iterable[str] = (),
        where: str | None = None,
        dry_run: bool = False,
    ) -> list[Migration]:
        """Move the live runs of `old` to `new`; what became of each."""
        return await in_thread(
            lambda: self._client.migrate(
                old, new, mapping=mapping, flow_ids=flow_ids, where=where, dry_run=dry_run
            )
        )

    async def pause(self, flow: str, step: str | None = None) -> bool:
        """Begin nothing more of a flow type, or of one of its steps. False: it was paused."""
        return await in_thread(lambda: self._client.pause(flow, step))

    async def resume(self, flow: str, step: str | None = None) -> bool:
        """False: it was not paused."""
        return await in_thread(lambda: self._client.resume(flow, step))

    async def find_flow(self, flow: Flow | str | Path) -> Flow:
        """The flow of a file, of a catalogue or, the latest one, of the store."""
        return await in_thread(lambda: self._client.find_flow(flow))

    # --- Looking ---

    async def describe(self, flow_id: str, *, messages: bool = False) -> dict[str, Json]:
        """The latest run of a flow id as it stands."""
        return await in_thread(lambda: self._client.describe(flow_id, messages=messages))

    async def explain(self, flow_id: str) -> dict[str, Json]:
        """Why the latest run of a flow id is where it is."""
        return await in_thread(lambda: self._client.explain(flow_id))

    async def progress(self, flow_id: str) -> tuple[dict[str, Json], int]:
        """The run, and how many step executions have ended."""
        return await in_thread(lambda: self._client.progress(flow_id))

    async def history(self, flow_id: str) -> list[dict[str, Json]]:
        """The commits of the latest run, oldest first."""
        return await in_thread(lambda: self._client.history(flow_id))

    async def search(self, where: str | None = None, *, limit: int | None = None) -> list[dict[str, Json]]:
        """The latest runs of all flow ids, newest first."""
        return await in_thread(lambda: self._client.search(where, limit=limit))

    async def attributes(self, flow_id: str) -> dict[str, Json]:
        """Those that are set, maps with their entries."""
        return await in_thread(lambda: self._client.attributes(flow_id))

    async def attribute(self, flow_id: str, name: str, *, key: str | int | None = None) -> Json:
        """One of them, or an entry of a map; null where it is not set."""
        return await in_thread(lambda: self._client.attribute(flow_id, name, key=key))

    async def wait_for_step(
        self, flow_id: str, step: str, number: int = 1, *, timeout: Span | None = None
    ) -> None:
        """Until this execution of a step has ended, also by being cancelled."""
        engine = self._client.engine
        await self._sit_out(
            lambda bell: awaiting.wait_for_step(engine, bell, flow_id, step, number, timeout=timeout)
        )

    async def wait_for_attribute(
        self,
        flow_id: str,
        name: str,
        value: Json = None,
        *,
        comparison: str = "==",
        key: str | int | None = None,
        timeout: Span | None = None,
    ) -> Json:
        """Until an attribute (or the entry `key` of a map) compares with `value`; gives what it is then."""
        engine = self._client.engine
        return await self._sit_out(
            lambda bell: awaiting.wait_for_attribute(
                engine, bell, flow_id, name, value, comparison=comparison, key=key, timeout=timeout
            )
        )

    async def wait(self, flow_id: str, timeout: Span | None = None) -> dict[str, Json]:
        """Until the latest run is closed; gives it as `describe` does."""
        engine = self._client.engine
        return await self._sit_out(lambda bell: awaiting.wait(engine, bell, flow_id, timeout))

    # --- Together with the application ---

    async def within(self, connection: Connection) -> Client:
        """A client whose calls are part of a transaction of the caller; it blocks."""
        return await in_thread(lambda: self._client.within(connection))

    # --- Life ---

    async def close(self) -> None:
        """Close the client, in a thread of its own."""
        await in_thread(self._client.close)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Methods that a subclass of the client has beside these."""
            method = getattr(self._client, name)
            if not callable(method):
                raise AttributeError(f"`aio` has the client's methods; `{name}` is none")

            async def call(*arguments: Any, **options: Any) -> Any:
                return await in_thread(lambda: method(*arguments, **options))

            return call

    # --- How ---

    async def _have(self, wish: Wish) -> Any:
        loop = asyncio.get_running_loop()
        answers = self._answers.get(loop)
        if answers is None:
            answers = self._answers[loop] = Answers(loop, self._client.engine)
        return await answers.to(wish)

    async def _sit_out(self, begin: Callable[[Bell], Patience[T]]) -> T:
        demand_outside()  # threads that look do not know who waits
        loop = asyncio.get_running_loop()
        bell = Bell(loop)
        turns = Turns(begin(bell))
        try:
            while not turns.are_over:
                await bell.wait(await loop.run_in_executor(self._lookers, turns.take))
        finally:
            if not turns.are_over:
                self._end(turns)
        found: T = turns.found
        return found

    def _end(self, turns: Turns) -> None:
        """A look may be under way: it is not waited for here."""
        try:
            self._lookers.submit(turns.end)
        except RuntimeError:
            turns.end()  # the client was closed meanwhile

    def end_looks(self) -> None:
        """Waits for those that are under way."""
        self._lookers.shutdown()
