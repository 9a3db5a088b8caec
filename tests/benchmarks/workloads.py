"""The workloads of docs/performance.md on this engine; each starts on a new file."""

from __future__ import annotations

import gc
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.lint.runner import lint_text
from orchestrator.store.opening import open_store
from orchestrator.store.postgres_url import is_postgres
from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.benchmarks import floor, flows
from tests.benchmarks.counting import Closings, Counted
from tests.benchmarks.long_flow import long_definition
from tests.benchmarks.many_workers import four_workers, one_worker, two_workers
from tests.benchmarks.measure import Line, in_milliseconds, percentile
from tests.benchmarks.parked import parked, parked_by_coroutines


def sequential_alone(path: str, flow_count: int) -> Line:
    """W1c1: flows of 10 steps, one at a time."""
    flow = flows.sequence(10)
    engine = Engine(path)
    client = Client(engine)
    with Worker(engine):
        _run(client, flow, range(20))
        started = time.perf_counter()
        _run(client, flow, range(20, 20 + flow_count))
        seconds = time.perf_counter() - started
        counted = Counted(engine)
        _run(client, flow, range(20 + flow_count, 40 + flow_count))
    engine.close()
    return {
        "steps_s": round(10 * flow_count / seconds, 1),
        "commits_per_event": round(counted.commit_count / counted.event_count, 3),
    }


def _run(client: Client, flow: Flow, numbers: range) -> None:
    for number in numbers:
        client.start(flow, f"f{number}")
        client.wait(f"f{number}")


def sequential_together(path: str, flow_count: int, in_flight: int = 100) -> Line:
    """W1c100: the same with 100 in flight."""
    flow = flows.sequence(10)
    engine = Engine(path)
    client = Client(engine)
    closed = Closings(engine)
    with Worker(engine):
        _run(client, flow, range(1))
        counted = Counted(engine)
        seconds = _run_together(client, flow, closed, flow_count, in_flight)
    engine.close()
    return {
        "steps_s": round(10 * flow_count / seconds, 1),
        "commits_per_event": round(counted.commit_count / counted.event_count, 4),
    }


def _run_together(client: Client, flow: Flow, closed: Closings, flow_count: int, in_flight: int) -> float:
    """Seconds, with one run closed before."""
    started = time.perf_counter()
    begun = 0
    while begun < flow_count or closed.count < flow_count + 1:
        while begun < flow_count and begun - (closed.count - 1) < in_flight:
            client.start_soon(flow, f"g{begun}")
            begun += 1
        closed.wait()
    return time.perf_counter() - started


def beside_a_hog(path: str, flow_count: int) -> Line:
    """W9: W1c100 while a handler computes without end, in a thread of the same process."""
    return _beside_a_hog(path, flow_count, [])


def beside_a_hog_elsewhere(path: str, flow_count: int) -> Line:
    """W9p: the same, the handler in a process of its own."""
    return _beside_a_hog(path, flow_count, ["tests.benchmarks.flows:compute"])


def _beside_a_hog(path: str, flow_count: int, run_in_process: list[str]) -> Line:
    flow = flows.sequence(10)
    engine = Engine(path)
    client = Client(engine)
    closed = Closings(engine)
    with Worker(engine, run_in_process=run_in_process, processes=1 if run_in_process else 0):
        _run(client, flow, range(1))
        client.start(flows.hog(), "hog")
        while all(commit["event"] != "Heartbeaten" for commit in client.history("hog")):
            time.sleep(0.01)
        seconds = _run_together(client, flow, closed, flow_count, 100)
        assert client.describe("hog")["status"] == "RUNNING"
        client.stop("hog")
    engine.close()
    return {"steps_s": round(10 * flow_count / seconds, 1)}


def fan_out(path: str, branch_count: int) -> Line:
    """W2: parallel branches and a join."""
    flow = flows.fan_out()
    engine = Engine(path)
    client = Client(engine)
    with Worker(engine):
        client.start(flow, "warm", [1, 2, 3])
        client.wait("warm")
        started = time.perf_counter()
        client.start(flow, "wide", list(range(branch_count)))
        run = client.wait("wide")
        seconds = time.perf_counter() - started
    engine.close()
    assert run["outputs"][0]["output"] == branch_count, run
    return {"branches_s": round(branch_count / seconds, 1)}


def message_in_process(path: str, count: int) -> Line:
    """W3 in process: publish until the handler of the waiting step starts."""
    flow = flows.message("receive")
    engine = Engine(path)
    client = Client(engine)
    spans = []
    with Worker(engine):
        for number in range(count):
            client.start(flow, f"m{number}")
        for number in range(count):
            time.sleep(random.uniform(0.002, 0.006))
            flows.begun.clear()
            sent_at = time.perf_counter()
            client.publish(f"m{number}", "go", number)
            flows.begun.wait()
            spans.append(flows.began[number] - sent_at)
    engine.close()
    return {
        "p50_ms": in_milliseconds(percentile(spans, 0.5)),
        "p99_ms": in_milliseconds(percentile(spans, 0.99)),
    }


def message_between_processes(path: str, count: int) -> Line:
    """W3 across processes: the publisher is a process of its own (clocks of one machine are compared)."""
    flow = flows.message("receive")
    engine = Engine(path)
    client = Client(engine)
    spans = []
    with Worker(engine):
        for number in range(count):
            client.start(flow, f"m{number}")
        with subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.publisher", path, str(count)],
            stdout=subprocess.PIPE,
            text=True,
        ) as publisher:
            assert publisher.stdout is not None
            for line in publisher.stdout:
                name, sent_at = line.split()
                client.wait(f"m{name}", timeout=10)
                spans.append(flows.began[int(name)] - float(sent_at))
    engine.close()
    return {
        "p50_ms": in_milliseconds(percentile(spans, 0.5)),
        "p99_ms": in_milliseconds(percentile(spans, 0.99)),
    }


def short_process(path: str, _: int) -> Line:
    """W5: a new process, a new file, a flow of three steps, exit; and `--help`."""
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tests.benchmarks.short", path], check=True, env=environment)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "orchestrator", "--help"], check=True, capture_output=True)
    help_seconds = time.perf_counter() - started
    return {"seconds": round(seconds, 3), "help_s": round(help_seconds, 3)}


def long_run(path: str, step_count: int) -> Line:
    """W6: the last steps of one long run against its first ones; bytes a step."""
    Engine(path).close()
    empty = _size_of(path)
    engine = Engine(path)
    client = Client(engine)
    with Worker(engine):
        client.start(flows.loop(), "long", step_count)
        client.wait("long")
        history = client.history("long")
    engine.close()
    moments = [datetime.fromisoformat(row["at"]).timestamp() for row in history]
    spans = [later - earlier for earlier, later in pairwise(moments)]
    size = _size_of(path) - empty
    return {
        "slowdown": round(percentile(spans[-40:], 0.5) / percentile(spans[5:45], 0.5), 2),
        "bytes_per_step": round(size / step_count, 1),
        "steps_s": round(step_count / (moments[-1] - moments[0]), 1),
    }


def lint(path: str, line_count: int) -> Line:
    """W8-lint: a long definition, one step of it edited each time, in a warm process; nothing is stored."""
    text = long_definition(line_count)
    problems = lint_text(text, path)
    assert [problem.code for problem in problems if problem.severity != "info"] == [], problems
    gc.collect()
    gc.freeze()  # as the command does: what is loaded for good is not searched again
    spans = []
    for number in range(9):
        edited = text.replace("station 7,", f"station {number} of seven,", 1)
        started = time.perf_counter()
        lint_text(edited, path)
        spans.append(time.perf_counter() - started)
    return {"seconds": round(percentile(spans, 0.5), 4), "lines": text.count("\n")}


def verify(path: str, editor_count: int) -> Line:
    """W8-verify: every state of ContractEditFlow with so many editors, warm; nothing is stored."""
    flow, _ = parse(CONTRACT_EDIT.read_text(encoding="utf-8"), path)
    assert flow is not None
    report = verify_flow(flow, fan_out=[editor_count])
    assert report.states == 5 * editor_count + 6
    proved = {each.name for each in report.properties if each.verdict is Verdict.PROVED}
    assert "mutual_exclusion" in proved
    spans = []
    for _ in range(9):
        started = time.perf_counter()
        verify_flow(flow, fan_out=[editor_count])
        spans.append(time.perf_counter() - started)
    return {"seconds": round(percentile(spans, 0.5), 4), "states": report.states}


def _size_of(path: str) -> int:
    if is_postgres(path):
        store = open_store(path)
        store.vacuum()
        size, _ = store.sizes()
        store.close()
        return size
    connection = sqlite3.connect(path)
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.execute("vacuum")
    connection.close()
    return os.path.getsize(path)


CONTRACT_EDIT = Path(__file__).parents[2] / "flows" / "contract_edit.flow.yaml"
Workload = Callable[[str, int], Line]

WORKLOADS: dict[str, tuple[Workload, int, str]] = {
    "W1c1": (sequential_alone, 1000, "steps_s"),
    "W1c100": (sequential_together, 2000, "steps_s"),
    "W2": (fan_out, 1000, "branches_s"),
    "W2x": (fan_out, 10_000, "branches_s"),
    "W3": (message_in_process, 200, "p50_ms"),
    "W3p": (message_between_processes, 200, "p50_ms"),
    "W4": (parked, 10_000, "creates_s"),
    "W4a": (parked_by_coroutines, 10_000, "creates_s"),
    "W5": (short_process, 1, "seconds"),
    "W6": (long_run, 1000, "slowdown"),
    "W7x1-pg": (one_worker, 6_000, "steps_s"),
    "W7x2-pg": (two_workers, 6_000, "steps_s"),
    "W7x4-pg": (four_workers, 6_000, "steps_s"),
    "W9": (beside_a_hog, 500, "steps_s"),
    "W9p": (beside_a_hog_elsewhere, 2000, "steps_s"),
    "W8-lint": (lint, 2000, "seconds"),
    "W8-verify": (verify, 200, "seconds"),
}
ON_POSTGRES = ("W1c1", "W1c100", "W2", "W2x", "W3", "W3p", "W4", "W4a", "W5", "W6")
"""Measured there too, as `W1c1-pg` and so on."""
FLOORS: dict[str, tuple[Workload, int, str]] = {
    "W1c1": (floor.one_at_a_time, 1000, "steps_s"),
    "W1c100": (floor.in_batches, 2000, "steps_s"),
    "W2": (floor.fan_out, 1000, "branches_s"),
    "W3": (floor.message, 200, "p50_ms"),
    "W4": (floor.parked, 4000, "creates_s"),
    "W6": (floor.long_run, 1000, "slowdown"),
}
"""By workload: how it is run, with how many, and the figure that counts."""
for _measured in (WORKLOADS, FLOORS):
    _measured |= {f"{name}-pg": _measured[name] for name in ON_POSTGRES if name in _measured}
