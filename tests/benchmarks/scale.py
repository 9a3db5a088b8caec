"""`python -m tests.benchmarks.scale URL [--closed 1000000]`: what things cost in a store with very many runs.

The store is filled first, if it is not there; milliseconds, the best of a few, one line of JSON for each.
`--steps 100000` measures one long run instead: milliseconds of processor time for each thousand steps.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import pairwise

from orchestrator.engine import upkeep
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.errors import OrchestratorError
from tests.benchmarks import flows
from tests.benchmarks.filling import fill
from tests.benchmarks.measure import resident_kilobytes

_LIMIT = 100
SEARCHES = (
    None,
    "status == 'RUNNING'",
    "status == 'FAILED'",
    "status == 'COMPLETED'",
    "flow == 'BenchParked'",
    "flow == 'NoSuchFlow'",
    "flow_id == 'ticket-77'",
    "flow == 'BenchTicket' && status == 'RUNNING'",
    "'Wait' in steps",
    "started_at < '2020-01-01'",
    "attributes.customer == 'c5' && status == 'FAILED'",
    "attributes.customer == 'c5'",
    "attributes.customer == 'nobody'",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--closed", type=int, default=1_000_000)
    parser.add_argument("--parked", type=int, default=2000)
    parser.add_argument("--steps", type=int)
    asked = parser.parse_args()
    if asked.steps is not None:
        long_run(asked.url, asked.steps)
        return
    if not _is_filled(asked.url):
        fill(asked.url, asked.closed, asked.parked)
    many_runs(asked.url)


def _is_filled(url: str) -> bool:
    with suppress(OrchestratorError), Client(url) as client:
        return bool(client.search(limit=1))
    return False


def many_runs(url: str) -> None:
    engine = Engine(url)
    client = Client(engine)
    now = engine.clock.now()
    long_ago = now - timedelta(days=3650)
    flow = flows.ticket()
    for where in SEARCHES:
        _time(f"search {where}", partial(client.search, where, limit=_LIMIT))
    (closed,) = client.search("status == 'FAILED'", limit=1)
    _time("describe a closed run", lambda: client.describe(closed["flow_id"]))
    _time("explain a parked run", lambda: client.explain("parked-1"))
    _time("start", lambda: client.start(flow, uuid.uuid4().hex), 20)
    _time("due work and leases", lambda: _read(engine, "work_counts", now))
    _time("runs by status", lambda: _read(engine, "run_counts"))
    _time("db status", lambda: upkeep.survey(engine))
    _time("count what is old, none", lambda: upkeep.count_old(engine, long_ago))
    _time("prune, none is old", lambda: upkeep.prune_some(engine, long_ago))
    _time("prune 100", lambda: upkeep.prune_some(engine, now))
    _time("prune definitions", lambda: upkeep.prune_definitions(engine))
    with Worker(engine):
        _time("claim and do a run of 3 steps", lambda: _do(client), 20)
    engine.close()


def _read(engine: Engine, name: str, *parameters: object) -> object:
    with engine.store.reading() as reading:
        return getattr(reading, name)(*parameters)


def _do(client: Client) -> None:
    name = uuid.uuid4().hex
    client.start(flows.ticket(), name)
    client.wait(name)


def _time(what: str, action: Callable[[], object], times: int = 3) -> None:
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - started)
    print(json.dumps({"what": what, "ms": round(best * 1000, 2)}), flush=True)


def long_run(url: str, step_count: int) -> None:
    engine = Engine(url)
    client = Client(engine)
    marks = [(time.process_time(), resident_kilobytes())]
    event_count = 0
    before = engine.committer.on_commit

    def note(batch: Batch) -> None:
        nonlocal event_count
        before(batch)
        event_count += batch.event_count
        while event_count // 1000 >= len(marks):
            marks.append((time.process_time(), resident_kilobytes()))

    engine.committer.on_commit = note
    with Worker(engine):
        client.start(flows.loop(), "long", step_count)
        client.wait("long")
    engine.close()
    spent = [round((later[0] - earlier[0]) * 1000) for earlier, later in pairwise(marks)]
    line = {"first": spent[1:4], "middle": spent[len(spent) // 2 :][:3], "last": spent[-3:]}
    print(json.dumps({**line, "kilobytes": [marks[1][1], marks[-1][1]]}))


if __name__ == "__main__":
    main()
