"""W4: many runs parked in a wait, by eight clients: made, kept, and gone on with.

The clients are threads (W4) or coroutines of one loop (W4a), beside one worker; each call returns when it is
durable.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg

from orchestrator.definition.model import Flow
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.store.postgres_url import is_postgres, read_url
from tests.benchmarks import flows
from tests.benchmarks.counting import Closings
from tests.benchmarks.measure import Line, cpu_of_tree, resident_kilobytes

_CLIENT_COUNT = 8
_IDLE_SECONDS, _SETTLE_SECONDS = 4.0, 1.0


def parked(path: str, run_count: int) -> Line:
    return _parked(path, run_count, Threads)


def parked_by_coroutines(path: str, run_count: int) -> Line:
    return _parked(path, run_count, Coroutines)


def _parked(path: str, run_count: int, kind: type[Threads] | type[Coroutines]) -> Line:
    flow = flows.message()
    engine = Engine(path)
    client = Client(engine)
    clients = kind(client, flow)
    closed = Closings(engine)
    with Worker(engine):
        for number in range(50):
            client.start(flow, f"warm{number}")
        before = _resident()
        names = [f"p{number}" for number in range(run_count)]
        cpu_before = time.process_time()
        create_seconds = clients.start(names)
        create_cpu = time.process_time() - cpu_before
        kilobytes = _resident() - before
        idle_cores = _idle(path)
        started, cpu_before = time.perf_counter(), time.process_time()
        clients.publish(names)
        send_seconds = time.perf_counter() - started
        while closed.count < run_count:
            closed.wait()
        resume_seconds = time.perf_counter() - started
        resume_cpu = time.process_time() - cpu_before
    with engine.store.reading() as reading:
        assert reading.run_counts() == {"COMPLETED": run_count, "RUNNING": 50}
    engine.close()
    return {
        "creates_s": round(run_count / create_seconds, 1),
        "resumes_s": round(run_count / resume_seconds, 1),
        "sends_s": round(run_count / send_seconds, 1),
        "create_cpu_us": round(create_cpu / run_count * 1e6),
        "resume_cpu_us": round(resume_cpu / run_count * 1e6),
        "kb_per_run": round(kilobytes / run_count, 2),
        "idle_cores": idle_cores,
    }


class Threads:
    """Seconds until all eight are through with their share."""

    def __init__(self, client: Client, flow: Flow) -> None:
        self._client = client
        self._flow = flow

    def start(self, names: list[str]) -> float:
        return self._share_out(names, lambda name: self._client.start(self._flow, name))

    def publish(self, names: list[str]) -> float:
        return self._share_out(names, lambda name: self._client.publish(name, "go", int(name[1:])))

    def _share_out(self, names: list[str], call: Callable[[str], object]) -> float:
        def call_all(mine: list[str]) -> None:
            for name in mine:
                call(name)

        threads = [threading.Thread(target=call_all, args=(mine,)) for mine in _shares(names)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started


class Coroutines:
    """The same."""

    def __init__(self, client: Client, flow: Flow) -> None:
        self._aio = client.aio
        self._flow = flow

    def start(self, names: list[str]) -> float:
        return self._share_out(names, lambda name: self._aio.start(self._flow, name))

    def publish(self, names: list[str]) -> float:
        return self._share_out(names, lambda name: self._aio.publish(name, "go", int(name[1:])))

    def _share_out(self, names: list[str], call: Callable[[str], Awaitable[object]]) -> float:
        async def call_all(mine: list[str]) -> None:
            for name in mine:
                await call(name)

        async def together() -> None:
            await asyncio.gather(*map(call_all, _shares(names)))

        started = time.perf_counter()
        asyncio.run(together())
        return time.perf_counter() - started


def _shares(names: list[str]) -> list[list[str]]:
    return [names[number::_CLIENT_COUNT] for number in range(_CLIENT_COUNT)]


def _resident() -> int:
    gc.collect()
    return resident_kilobytes()


def _idle(path: str) -> float:
    """Cores that this process and the database server use while nothing happens."""
    time.sleep(_SETTLE_SECONDS)
    server = _server(path)
    before, started = _used(server), time.perf_counter()
    time.sleep(_IDLE_SECONDS)
    return round((_used(server) - before) / (time.perf_counter() - started), 4)


def _used(server: int | None) -> float:
    return time.process_time() + (cpu_of_tree(server) if server is not None else 0.0)


def _server(path: str) -> int | None:
    """The process id of a PostgreSQL server on this machine."""
    if not is_postgres(path):
        return None
    with psycopg.connect(read_url(path).conninfo) as connection:
        backend = connection.info.backend_pid
        status = Path(f"/proc/{backend}/stat")
        if not os.access(status, os.R_OK):
            return None
        return int(status.read_text().rsplit(")", 1)[1].split()[1])
