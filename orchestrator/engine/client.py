"""What a program does with runs: start them, send to them, look at them, wait for them, stop them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from orchestrator.binding.context import Services
from orchestrator.core.reuse import ReusePolicy
from orchestrator.core.travel import Target
from orchestrator.definition.catalogue import Catalogue
from orchestrator.definition.model import Flow, Json, TimeoutPolicy
from orchestrator.engine import awaiting, wishes
from orchestrator.engine.arguments import Span, names, optional_text, paths, text
from orchestrator.engine.awaiting import read_attribute
from orchestrator.engine.calling import call_rpc
from orchestrator.engine.describe import describe_commit, describe_run
from orchestrator.engine.engine import Engine, engine_of
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.ids import random_id
from orchestrator.engine.latest import demand_latest, describe_latest
from orchestrator.engine.listing import list_runs
from orchestrator.engine.pausing import pause, resume
from orchestrator.engine.startable import Startable
from orchestrator.engine.submission import Call, Receipt, Started, Wish
from orchestrator.engine.travelling import Travelled
from orchestrator.engine.waiting import sit_out
from orchestrator.store.contract import Store

if TYPE_CHECKING:
    from orchestrator.engine.aio import AsyncClient
    from orchestrator.engine.migrating import Migration
    from orchestrator.engine.tracing import Tracing
    from orchestrator.store.bodies import Bodies
    from orchestrator.store.sqlite_guest import Connection


class Client:
    """`Client("sqlite:///orchestrator.db", flows=["flows"])`; safe to use from many threads.

    `store`: a database URL, a store, or the Engine of this process when it also has a worker.
    """

    def __init__(
        self,
        store: str | Store | Engine,
        *,
        flows: Catalogue | Iterable[str | Path] | None = None,
        search_path: Iterable[str | Path] = (".",),
        attribute_store: str | None = None,
        tracing: Tracing | None = None,
        bodies: Bodies | None = None,
        handlers: Handlers | None = None,
    ) -> None:
        """`search_path`: directories that handlers of RPCs are imported from, unless `handlers` are given.

        `attribute_store`, `tracing`, `bodies`: of the engine, when the client makes one.
        """
        self._handlers = handlers or Handlers(paths(search_path, "search_path"))
        self._owns_engine = not isinstance(store, Engine)
        self.engine = engine_of(store, attribute_store, tracing, bodies)
        if flows is not None:
            catalogue = flows if isinstance(flows, Catalogue) else Catalogue.of_paths(paths(flows, "flows"))
            self.engine.definitions.look_in(catalogue.find)
        self._startable = Startable(self.engine)
        self._aio: AsyncClient | None = None

    # --- Acting ---

    def start(
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
        """Returns when the run is stored; no step has to have run. `flow`: a flow, its type, or its file.

        Raises AlreadyStarted, InvalidValue, DefinitionInvalid.
        """
        found = self.find_flow(flow)
        wish = wishes.start(
            found,
            self._startable.children_of(found),
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
        started: Started = self._have(wish)
        return started

    def start_soon(self, flow: Flow | str | Path, flow_id: str, input: Json = None) -> Receipt:
        """Like `start`, without waiting for the commit: many come together. `.result()` waits."""
        found = self.find_flow(flow)
        wish = wishes.start(found, self._startable.children_of(found), flow_id, input)
        self.engine.submit(wish, leads=False)
        return wish.receipt

    def publish(self, flow_id: str, channel: str, value: Json = None, key: str | int | None = None) -> None:
        """Send a message to an external channel. Raises NotFound, NotActive, NotExternal, InvalidValue."""
        self._have(wishes.publish(flow_id, channel, value, key))

    def rpc(self, flow_id: str, name: str, input: Json = None, *, request_id: str | None = None) -> Json:
        """Call an RPC of the latest run; its handler runs in this process. Gives its output.

        A repeated `request_id` executes nothing and gives the first answer. Raises NotFound, NotActive,
        InvalidValue, Rejected, HandlerFailed, LockConflict.
        """
        call = Call(text(flow_id, "flow_id"), text(name, "name"), input, has_input=input is not None)
        call.request_id = optional_text(request_id, "request_id")
        return call_rpc(self.engine, self._handlers, Services(client=self), call)

    def set_attributes(self, flow_id: str, values: Mapping[str, Json]) -> None:
        """Write attributes in one commit; null deletes, a map takes a mapping of entries.

        Raises NotFound, NotActive, InvalidValue.
        """
        self._have(wishes.set_attributes(flow_id, values))

    def update_config(self, flow_id: str, config: Mapping[str, Json]) -> None:
        """Change some keys of a run's configuration. Raises NotFound, NotActive, InvalidValue."""
        self._have(wishes.update_config(flow_id, config))

    def skip_timer(self, flow_id: str, step_execution_id: str, condition: str | int | None = None) -> None:
        """Let a timer fire now: by condition id, by position among the wait's timers from 0, or the only one.

        One that does not exist yet is skipped when it appears. Raises NotFound, NotActive, InvalidValue.
        """
        self._have(wishes.skip_timer(flow_id, step_execution_id, condition))

    def skip_deadline(self, flow_id: str) -> None:
        """Let the run's timeout come now. Raises NotFound, NotActive."""
        self._have(wishes.skip_deadline(flow_id))

    def retry_now(self, flow_id: str, step_execution_id: str) -> None:
        """End the backing off of a step. Raises NotFound, NotActive, InvalidValue."""
        self._have(wishes.retry_now(flow_id, step_execution_id))

    def stop(self, flow_id: str, stop: str = "cancel", reason: str | None = None) -> None:
        """`stop`: cancel, fail or terminate. Raises NotFound, NotActive."""
        self._have(wishes.stop(flow_id, stop, reason))

    def time_travel(self, flow_id: str, target: Target | None = None, *, reapply: bool = True) -> Travelled:
        """Back to an earlier point of the latest run, closed or not: same run id, next run attempt.

        What clients did after that point is done again, unless `reapply` is False. Handlers that are running
        finish for nothing. Raises NotFound, InvalidValue for a bad target.
        """
        travelled: Travelled = self._have(wishes.time_travel(flow_id, target, reapply=reapply))
        return travelled

    def migrate(
        self,
        old: Flow | str | Path,
        new: Flow | str | Path,
        *,
        mapping: Iterable[str] = (),
        flow_ids: Iterable[str] = (),
        where: str | None = None,
        dry_run: bool = False,
    ) -> list[Migration]:
        """Move the live runs of `old` to `new`, each that can go on from where it is; what became of each.

        `old` and `new`: as `find_flow` takes them. `mapping`: as `--map`. `dry_run` only looks. Raises
        DefinitionInvalid, NotFound, UsageError.
        """
        from orchestrator.engine.migrating import migrate_flow

        return migrate_flow(
            self.engine,
            self.find_flow(old),
            self.find_flow(new),
            names(mapping, "mapping"),
            set(names(flow_ids, "flow_ids")),
            optional_text(where, "where"),
            dry_run=dry_run,
        )

    def pause(self, flow: str, step: str | None = None) -> bool:
        """Begin nothing more of a flow type, or of one of its steps. False: it was paused.

        What a worker has taken is finished. Nothing is lost and no attempt is consumed. Raises NotFound.
        """
        return pause(self.engine, text(flow, "flow"), optional_text(step, "step"))

    def resume(self, flow: str, step: str | None = None) -> bool:
        """False: it was not paused. Raises NotFound."""
        return resume(self.engine, text(flow, "flow"), optional_text(step, "step"))

    def _have(self, wish: Wish) -> Any:
        """What its commit answers."""
        self.engine.submit(wish)
        return wish.receipt.result()

    def find_flow(self, flow: Flow | str | Path) -> Flow:
        """The flow of a file, of a catalogue or, the latest one, of the store.

        Raises DefinitionInvalid, NotFound.
        """
        return self._startable.find(flow)

    # --- Looking ---

    def describe(self, flow_id: str, *, messages: bool = False) -> dict[str, Json]:
        """The latest run of a flow id as it stands. Raises NotFound."""
        return describe_latest(self.engine, flow_id, with_messages=messages)

    def explain(self, flow_id: str) -> dict[str, Json]:
        """Why the latest run of a flow id is where it is, as `explain -o json` shows it. Raises NotFound."""
        from orchestrator.engine.explain.explanation import as_json
        from orchestrator.engine.explain.stored import explain_stored

        with self.engine.store.reading() as reading:
            head = demand_latest(reading, flow_id)
            now = self.engine.clock.now()
            return as_json(explain_stored(reading, self.engine.definitions, head, now))

    def progress(self, flow_id: str) -> tuple[dict[str, Json], int]:
        """The run, and how many step executions have ended."""
        with self.engine.store.reading() as reading:
            head = demand_latest(reading, flow_id)
            stored = reading.load(head)
            flow = self.engine.definitions.of(head.definition, reading)
            pauses = reading.find_pauses()
        ended_count = sum(stored.run.counters.values()) - len(stored.run.executions)
        now = self.engine.clock.now()
        return describe_run(flow, stored.run, stored.leases, now, pauses=pauses), ended_count

    def history(self, flow_id: str) -> list[dict[str, Json]]:
        """The commits of the latest run, oldest first. Raises NotFound."""
        with self.engine.store.reading() as reading:
            return [describe_commit(row) for row in reading.history(demand_latest(reading, flow_id).run)]

    def search(self, where: str | None = None, *, limit: int | None = None) -> list[dict[str, Json]]:
        """The latest runs of all flow ids, newest first; `limit`: no more than so many of them.

        `where`: an expression, as of `orchestrator list --where`. Raises UsageError.
        """
        return list_runs(self.engine, where, limit)

    def attributes(self, flow_id: str) -> dict[str, Json]:
        """Those that are set, maps with their entries. Raises NotFound."""
        described: dict[str, Json] = self.describe(flow_id)["attributes"]
        return described

    def attribute(self, flow_id: str, name: str, *, key: str | int | None = None) -> Json:
        """One of them, or an entry of a map; null where it is not set. Raises NotFound, InvalidValue."""
        text(name, "name")
        with self.engine.store.reading() as reading:
            head = demand_latest(reading, flow_id)
            flow = self.engine.definitions.of(head.definition, reading)
            return read_attribute(flow, reading.load(head).run, name, key)

    def wait_for_step(self, flow_id: str, step: str, number: int = 1, *, timeout: Span | None = None) -> None:
        """Until this execution of a step has ended, also by being cancelled.

        Raises NotFound, NotActive when the run is closed and it never began, WaitTimeout.
        """
        sit_out(
            lambda bell: awaiting.wait_for_step(self.engine, bell, flow_id, step, number, timeout=timeout)
        )

    def wait_for_attribute(
        self,
        flow_id: str,
        name: str,
        value: Json = None,
        *,
        comparison: str = "==",
        key: str | int | None = None,
        timeout: Span | None = None,
    ) -> Json:
        """Until an attribute (or the entry `key` of a map) compares with `value`; gives what it is then.

        `comparison`: ==, !=, <, <=, >, >=; an attribute that is not set equals null and nothing else.
        Raises NotFound, NotActive when the run is closed and it does not hold, WaitTimeout.
        """
        return sit_out(
            lambda bell: awaiting.wait_for_attribute(
                self.engine, bell, flow_id, name, value, comparison=comparison, key=key, timeout=timeout
            )
        )

    def wait(self, flow_id: str, timeout: Span | None = None) -> dict[str, Json]:
        """Until the latest run is closed; gives it as `describe` does. Raises NotFound, WaitTimeout.

        Its synced attributes are then in the attribute store, if that can be reached.
        """
        return sit_out(lambda bell: awaiting.wait(self.engine, bell, flow_id, timeout))

    @property
    def aio(self) -> AsyncClient:
        """The same methods, to be awaited."""
        if self._aio is None:
            from orchestrator.engine.aio import AsyncClient  # brings asyncio

            self._aio = AsyncClient(self, self._startable)
        return self._aio

    # --- Together with the application ---

    def within(self, connection: Connection) -> Client:
        """A client whose calls are part of a transaction of the caller, on the same database.

        `connection`: a SQLAlchemy connection (of a session: `session.connection()`). What the client does is
        durable and visible to others when the caller commits, and gone when they roll back; then workers are
        woken. Nothing can be waited for inside. Raises UsageError for a connection to another database.
        """
        from orchestrator.engine.guest import guest_of

        return Client(guest_of(self.engine, connection), handlers=self._handlers)

    # --- Life ---

    def close(self) -> None:
        if self._aio is not None:
            self._aio.end_looks()
        if self._owns_engine:
            self.engine.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
