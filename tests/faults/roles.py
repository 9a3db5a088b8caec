"""What the processes under faults are: workers, and clients that start runs, send messages, and stop some."""

from __future__ import annotations

import asyncio
import faulthandler
import json
import logging
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.clock import Clock, SharedClock, SystemClock
from orchestrator.engine import leases
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.errors import NotActive, StoreError
from tests.faults.flows import CATALOGUE, KINDS, Kind
from tests.faults.handlers import CALLS

ROOT = Path(__file__).parents[2]
AHEAD, BEHIND, RIGHT = signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP
OFFSETS = {AHEAD: timedelta(hours=1), BEHIND: timedelta(hours=-1), RIGHT: timedelta()}
"""What they turn a worker's clock to."""
SIGNALS = {signal.SIGTERM, *OFFSETS}
"""Blocked in all processes: they are waited for."""
ALIVE_FOR = timedelta(seconds=1.5)
"""Leases of workers under faults; renewed five times meanwhile."""
_AGAIN_AFTER = 0.05
_OPEN_RUNS = 60
"""A client starts no more while there are so many."""
_MOST_MESSAGES = 6
T = TypeVar("T")


def work(settings: dict[str, Any]) -> None:
    """A worker, until SIGTERM."""
    leases.ALIVE_FOR, leases.RENEW_EVERY = ALIVE_FOR, ALIVE_FOR / 5
    os.environ[CALLS] = settings["calls"]
    faulthandler.enable()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    clock = SkewedClock()
    shared: Clock = SharedClock(clock)
    if hours := settings.get("hours_ahead"):
        clock.offset, shared = timedelta(hours=hours), clock
    engine = insist(lambda: Engine(settings["store"], clock=shared))
    worker = Worker(engine, search_path=[ROOT], flows=(), concurrency=settings.get("concurrency", 4))
    engine.definitions.look_in(CATALOGUE.find)
    insist(worker.start)
    while (number := signal.sigwait(SIGNALS)) != signal.SIGTERM:
        clock.offset = OFFSETS[signal.Signals(number)]
    worker.stop(grace=10)
    engine.close()


class SkewedClock(SystemClock):
    """The machine's, turned."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        return super().now() + self.offset


def call(settings: dict[str, Any]) -> None:
    """A client, until SIGTERM; then it finishes with what it has begun."""
    engine = insist(lambda: Engine(settings["store"]))
    client = Client(engine, flows=CATALOGUE, search_path=[ROOT])
    caller = (_AsyncCaller if settings["is_async"] else _Caller)(client, settings)
    while signal.SIGTERM not in signal.sigpending():
        caller.make_round()
    engine.close()


def insist(action: Callable[[], T]) -> T:
    """As a caller does who wants it done, whatever happens to the database meanwhile."""
    while True:
        try:
            return action()
        except StoreError:
            time.sleep(_AGAIN_AFTER)


class _Caller:
    """Everything that it begins and everything that was confirmed is in its ledger."""

    def __init__(self, client: Client, settings: dict[str, Any]) -> None:
        self._client = client
        self._name = settings["name"]
        self._random = random.Random(settings["seed"])
        self._round = 0
        ledger = Path(settings["ledger"])
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def make_round(self) -> None:
        """One run of each kind, in some order; then what they are sent."""
        while insist(self._count_open) > _OPEN_RUNS:
            time.sleep(_AGAIN_AFTER)
        self._round += 1
        kinds = self._random.sample(KINDS, len(KINDS))
        self._for_each(self._start, kinds)
        self._for_each(self._send_to, kinds)

    def _for_each(self, action: Callable[[Kind], None], kinds: list[Kind]) -> None:
        for kind in kinds:
            action(kind)

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        return getattr(self._client, name)(*arguments, **options)

    def _send_to(self, kind: Kind) -> None:
        flow_id = self._flow_id(kind)
        if kind.is_fed:
            self._feed(flow_id)
        if kind.is_stopped:
            self._stop(flow_id)

    def _flow_id(self, kind: Kind) -> str:
        return f"{kind.name}-{self._name}-{self._round}"

    def _count_open(self) -> int:
        with self._client.engine.store.reading() as reading:
            return reading.run_counts().get("RUNNING", 0)

    def _start(self, kind: Kind) -> None:
        flow_id = self._flow_id(kind)
        repeatable = {"request_id": flow_id, "return_existing": True}
        insist(lambda: self._call("start", kind.flow, flow_id, kind.input, **repeatable))
        self._note("started", flow_id)

    def _feed(self, flow_id: str) -> None:
        """Some by publishing, whose fate is unknown when the database fails, some so that it is repeated."""
        for number in range(self._random.randint(1, _MOST_MESSAGES)):
            message = f"{flow_id}/{number}"
            self._note("sent", message)
            if self._random.random() < 0.5:
                try:
                    self._call("publish", flow_id, "order", message)
                except StoreError:
                    continue
            else:
                self._rpc(flow_id, "send", message, message)
            self._note("stored", message)
        self._rpc(flow_id, "finish", None, f"{flow_id}/finish")

    def _rpc(self, flow_id: str, name: str, input: Any, request_id: str) -> None:
        insist(lambda: self._call("rpc", flow_id, name, input, request_id=request_id))

    def _stop(self, flow_id: str) -> None:
        with suppress(NotActive):  # it was stopped, and the answer was lost
            insist(lambda: self._call("stop", flow_id))

    def _note(self, what: str, about: str) -> None:
        os.write(self._ledger, (json.dumps([what, about]) + "\n").encode())


class _AsyncCaller(_Caller):
    """The same by coroutines of one loop, for all runs of a round at once."""

    def __init__(self, client: Client, settings: dict[str, Any]) -> None:
        super().__init__(client, settings)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="loop", daemon=True).start()
        self._pool = ThreadPoolExecutor(len(KINDS), "caller")

    def _for_each(self, action: Callable[[Kind], None], kinds: list[Kind]) -> None:
        list(self._pool.map(action, kinds))

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        call = getattr(self._client.aio, name)(*arguments, **options)
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()


ROLES: dict[str, Callable[[dict[str, Any]], None]] = {"worker": work, "client": call}
