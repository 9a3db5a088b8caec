"""Executes runs: alone in a process of its own, or inside an application beside its clients."""

from __future__ import annotations

import gc
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from orchestrator.binding.context import NO_SERVICES, Services
from orchestrator.core.state import TIMEOUT_ID
from orchestrator.definition.model import Json
from orchestrator.definition.places import FlowPlaces
from orchestrator.engine import journal
from orchestrator.engine.arguments import another, demanded_span, names, paths, text
from orchestrator.engine.batch import Batch
from orchestrator.engine.cache import Entry
from orchestrator.engine.census import Census
from orchestrator.engine.client import Client
from orchestrator.engine.crew import demand_concurrency
from orchestrator.engine.dispatch import Dispatcher
from orchestrator.engine.elsewhere import Processes
from orchestrator.engine.engine import Engine, engine_of
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.membership import Membership
from orchestrator.engine.metrics import Metrics
from orchestrator.engine.processes.choice import Choice
from orchestrator.engine.projection import Projector
from orchestrator.engine.served import read_queues
from orchestrator.engine.standstill import Standstill
from orchestrator.engine.task import Task
from orchestrator.engine.upkeep import Retention
from orchestrator.errors import StoreError, UsageError
from orchestrator.store.bodies import PLAIN
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_attribute_store, url_elsewhere

if TYPE_CHECKING:
    from orchestrator.engine.processes.wire import Hello
    from orchestrator.engine.tracing import Tracing
    from orchestrator.store.bodies import Bodies

_YOUNG_OBJECTS = 10_000
"""So many before young objects are searched for garbage: a batch of commits makes thousands that live on."""
_FLUSH_EVERY = 0.005
"""Seconds between looks at synced attributes on their way, while stopping."""
_LOOK_EVERY = 0.05
"""Seconds between looks at what other processes do, while this one has nothing to do but wait for them."""
Progress = Callable[[list[dict[str, Json]]], None]
log = logging.getLogger("orchestrator.engine")


class Worker:
    """`with Worker(engine): ...`, or `Worker("sqlite:///orchestrator.db").run()`.

    `search_path`: directories that handlers are imported from. `flows`: files and directories that runs which
    start other flows by type find them in, before the store. `retention`: how long closed runs are kept;
    None: for ever. `attribute_store`: of the engine, when the worker makes one. `on_progress` is called after
    each commit with what changed: flow_id, status, version and the number of active steps of each run; it
    must be quick. `queues`: take only the work of these queues, flow types (`Order`) or steps
    (`Order/Charge`). `run_in_process`: handlers (`module:function`) and steps (`Order/Charge`) that are
    called in processes of their own, beside those that modules name (`RUN_IN_PROCESS`); `processes`: how
    many, by default one a processor when there is such a handler; 0: none.

    `metrics`: where to note what happens; `metrics_text` gives it to Prometheus. `tracing`,
    `bodies`: of the engine, when the worker makes one.
    """

    def __init__(
        self,
        store: str | Store | Engine,
        *,
        search_path: Iterable[str | Path] = (".",),
        flows: Iterable[str | Path] = (),
        concurrency: int = 8,
        retention: timedelta | None = None,
        attribute_store: str | None = None,
        on_progress: Progress | None = None,
        queues: Iterable[str] = (),
        run_in_process: Iterable[str] = (),
        processes: int | None = None,
        metrics: Metrics | None = None,
        tracing: Tracing | None = None,
        bodies: Bodies | None = None,
    ) -> None:
        demand_concurrency(concurrency)
        _demand_listeners(on_progress, metrics)
        self._owns_engine = not isinstance(store, Engine)
        self.engine = engine_of(store, attribute_store, tracing, bodies)
        choice = Choice(names(run_in_process, "run_in_process"), processes)
        served = read_queues(names(queues, "queues"))
        self.handlers = Handlers(paths(search_path, "search_path"), served, choice)
        self.engine.definitions.look_in(FlowPlaces(paths(flows, "flows")).find)
        self._client = Client(self.engine, handlers=self.handlers)
        self._dispatcher = Dispatcher(
            self.engine.committer,
            self.handlers,
            self.engine.clock,
            concurrency=concurrency,
            services=self._services,
            processes=Processes(choice.size, choice.is_eager, self._greet, self._trace_headers),
        )
        self._membership = Membership(self.engine, self._dispatcher, self._serves)
        self._dispatcher.on_due = self._beat
        self._dispatcher.on_given_up = self._membership.renew_now
        self._concurrency = concurrency
        self._changed = threading.Event()
        self._stop_asked = _StopSign()
        self.is_started = False
        self.is_draining = False
        self._on_progress = on_progress
        self._metrics = metrics
        if metrics is not None:
            self._dispatcher.on_call = metrics.note_call
        self._census = Census(self.engine.store, self._dispatcher, self.engine.clock)
        self._retention = Retention(self.engine, retention) if retention is not None else None

    # --- Life ---

    def start(self) -> None:
        """Begin to work, in threads of its own.

        Raises UsageError where the engine has another worker, or the machine too few threads.
        """
        if self.is_started:
            return
        if self.engine.dispatcher is not None:
            raise UsageError("this engine has a worker that works: give another one an engine of its own")
        self._make_projector()
        _prepare_process()
        dispatcher = self._dispatcher
        dispatcher.on_rest = self._note_change
        self.engine.on_batch = self._note_batch
        self._leave_unserved()
        self.engine.listen()
        self._membership.begin()
        self.is_started = True
        self.engine.dispatcher = self.engine.committer.workplace = dispatcher
        if self.engine.projector is not None:
            self.engine.projector.start()
        journal.note_worker_started(dispatcher.worker, self._concurrency)
        try:
            dispatcher.start()
        except (RuntimeError, UsageError):
            self.stop(0)
            raise
        dispatcher.look_for_work()
        if self._retention is not None:
            self._retention.start()

    def stop(self, grace: timedelta | float = 30.0) -> None:
        """Take no new work, let running handlers finish within `grace`, hand back the rest."""
        seconds = demanded_span(grace, "grace").total_seconds()
        self._stop_asked.set()
        if not self.is_started:
            return
        self.is_started, self.is_draining = False, True
        if self._retention is not None:
            self._retention.stop()
        dispatcher, committer = self._dispatcher, self.engine.committer
        dispatcher.is_open = False
        with self._despite_store("hand back its work"):
            committer.hand_back(dispatcher.take_back)
        began_at = time.monotonic()
        ends_at = began_at + seconds
        journal.note_worker_draining(dispatcher.worker, dispatcher.held_count)
        while dispatcher.held_count and time.monotonic() < ends_at:
            self._changed.clear()
            if dispatcher.held_count:
                self._changed.wait(_LOOK_EVERY)
        left_count = dispatcher.held_count
        dispatcher.stop()
        committer.lead()
        with self._despite_store("carry over attributes"):
            self._stop_projector(ends_at)
        with self._despite_store("sign off"):
            self._membership.end()
        self.is_draining = False
        journal.note_worker_drained(dispatcher.worker, left_count, time.monotonic() - began_at)
        self.engine.dispatcher = committer.workplace = None
        with self._despite_store("tell others"):
            self.engine.store.ring()
        if self._owns_engine:
            self.engine.close()

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- Running until something ---

    def run(self, *, handles_signals: bool = False, grace: timedelta | float = 30.0) -> None:
        """Work until `stop` or, with `handles_signals` (main thread only), SIGTERM or SIGINT."""
        with self._signals(handles_signals):
            self.start()
            self._stop_asked.wait()
            self.stop(grace)

    def ask_to_stop(self) -> None:
        """Make `run` return; safe in a signal handler."""
        self._stop_asked.set()

    def run_until_idle(self, horizon: timedelta | float = 0.0) -> None:
        """Until no run has anything ready, in flight, backing off, or due within `horizon`."""
        span = demanded_span(horizon, "horizon")
        self.start()
        while not self._stop_asked.is_set():
            self._changed.clear()
            if self._dispatcher.is_at_rest() and not self._is_projecting() and not self._is_busy(span):
                return
            self._changed.wait(_LOOK_EVERY)

    def run_until_closed(
        self,
        flow_id: str,
        *,
        until_blocked: bool = False,
        on_hold: Callable[[dict[str, Json]], None] | None = None,
    ) -> dict[str, Json]:
        """Until the latest run of `flow_id` is closed; gives it as `describe` does.

        Raises Blocked when nothing but a client (or not even one) can move it; NotFound. After
        `ask_to_stop` it gives the run as it stands. `on_hold` is told when nothing goes on because of a
        pause or a queue with concurrency 0, of each once: `flow_id`, `text`, and `help` as in `explain`.
        """
        standstill = Standstill(
            engine=self.engine, flow_id=text(flow_id, "flow_id"), until_blocked=until_blocked, on_hold=on_hold
        )
        news = threading.Event()
        with self.engine.waiting.waiter(flow_id, standstill.is_worth_a_look, news):
            self.start()
            while not self._stop_asked.is_set():
                news.clear()
                if standstill.look():
                    break
                news.wait(1.0)
        return self._client.describe(flow_id)

    # --- Work ---

    def _services(self, task: Task) -> Services:
        if self.engine.tracing is not None:
            self.engine.tracing.enter(task)
        if not task.bound.takes_context:
            return NO_SERVICES
        heartbeat = partial(self._dispatcher.beat, task)
        return Services(client=self._client, is_cancelled=task.has_been_cancelled, heartbeat=heartbeat)

    def _trace_headers(self, task: Task) -> dict[str, str]:
        return self.engine.tracing.headers_of(task) if self.engine.tracing is not None else {}

    def _greet(self) -> Hello:
        """What each child process is told about this worker."""
        from orchestrator.engine.processes.process import levels
        from orchestrator.engine.processes.wire import Hello

        path = tuple(str(Path(each).resolve()) for each in self.handlers.search_path)
        target = self.engine.attribute_store
        url = url_elsewhere(self.engine.store) if self.engine.bodies is PLAIN else None
        return Hello(path, url, target if isinstance(target, str) else None, levels())

    def _is_busy(self, horizon: timedelta) -> bool:
        until = self.engine.clock.now() + horizon
        with self.engine.store.reading() as reading:
            named = [each.number for each in reading.find_queues() if self.handlers.is_named(each.number)]
            if self.handlers.served is not None and any(
                reading.is_busy(until, queue=number) for number in named
            ):
                return True
            return reading.is_busy(until, self.handlers.excluded())

    def _leave_unserved(self) -> None:
        """What is stored of flows that are not served here is left to others from the beginning."""
        served = self.handlers.served
        if served is None:
            return
        with self.engine.store.reading() as reading:
            for name, hash in reading.definition_names():
                if name not in served.flows:
                    self.handlers.leave(hash)
                elif name not in served.whole:
                    try:
                        self.handlers.leave_unserved(self.engine.definitions.of(hash, reading))
                    except StoreError:
                        self.handlers.leave(hash)  # of another release

    def metrics_text(self) -> str:
        """For Prometheus. Raises StoreError."""
        return (self._metrics or Metrics()).as_text(self._census)

    def _note_batch(self, batch: Batch) -> None:
        if self._metrics is not None:
            self._metrics.note_batch(batch)
        self._note_change()
        if self._on_progress is not None:
            self._on_progress([_progress_of(entry) for entry in batch.entries.values()])

    def _note_change(self) -> None:
        if not self._changed.is_set():
            self._changed.set()

    # --- Synced attributes ---

    def _make_projector(self) -> None:
        """Raises UsageError when the attribute store is no such thing."""
        engine, target = self.engine, self.engine.attribute_store
        if not target:
            return
        if isinstance(target, str):
            target = open_attribute_store(target)
        engine.projector = Projector(
            target,
            engine.store,
            engine.committer,
            engine.definitions,
            engine.clock,
            worker=self._dispatcher.claimer,
            call_at=self._dispatcher.watch.need_by,
        )

    def _stop_projector(self, ends_at: float) -> None:
        """What is committed is carried over first, if that can be done by then."""
        projector = self.engine.projector
        if projector is None:
            return
        while projector.is_busy() and time.monotonic() < ends_at:
            time.sleep(_FLUSH_EVERY)
        projector.stop()
        self.engine.projector = None

    def _is_projecting(self) -> bool:
        return self.engine.projector is not None and self.engine.projector.is_busy()

    # --- Leases ---

    @property
    def renewed_at(self) -> datetime | None:
        """When its lease was last renewed; None: it has none."""
        return self._membership.renewed_at

    def _serves(self) -> str:
        return "" if self.handlers.served is None else self.handlers.served.as_text()

    def _beat(self) -> None:
        if self.engine.projector is not None:
            self.engine.projector.look()
        self._membership.renew_if_due()

    @contextmanager
    def _despite_store(self, what: str) -> Iterator[None]:
        """Whoever stops does not stay for a database that fails: its leases end by themselves."""
        try:
            yield
        except StoreError as error:
            log.warning("worker %d could not %s while it stopped: %s", self._dispatcher.worker, what, error)

    @contextmanager
    def _signals(self, is_wanted: bool) -> Iterator[None]:
        if not is_wanted:
            yield
            return
        if threading.current_thread() is not threading.main_thread():
            raise UsageError("handles_signals: only the main thread of a process can hear signals")

        def stop(number: int, frame: FrameType | None) -> None:
            self.ask_to_stop()

        previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


class _StopSign:
    """Set by any thread, and by signal handlers: these may interrupt who holds a lock, so it has none."""

    def __init__(self) -> None:
        self._is_set = False
        self._bell: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        self._bell.put(None)

    def wait(self) -> None:
        """For one thread."""
        while not self._is_set:
            self._bell.get()


def _prepare_process() -> None:
    if 0 < gc.get_threshold()[0] < _YOUNG_OBJECTS:
        gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


def _demand_listeners(on_progress: object, metrics: object) -> None:
    if on_progress is not None and not callable(on_progress):
        raise another("on_progress", "a function", on_progress)
    if metrics is not None and not hasattr(metrics, "note_call"):
        raise another("metrics", "Metrics, see orchestrator.engine.metrics", metrics)


def _progress_of(entry: Entry) -> dict[str, Json]:
    run = entry.run
    return {
        "flow_id": run.flow_id,
        "status": str(run.status),
        "version": run.version,
        "active_count": len(run.executions) - (TIMEOUT_ID in run.executions),
    }
