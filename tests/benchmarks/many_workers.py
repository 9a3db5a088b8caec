"""W7: one, two and four worker processes on one PostgreSQL; handlers that compute for half a millisecond."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from tests.benchmarks import flows
from tests.benchmarks.measure import Line

_STEP_COUNT = 10
_THREAD_COUNT = 4
"""Of each worker: handlers that compute gain nothing by more."""
_LOOK_EVERY, _LOOK_ATMOST = 0.02, 0.5


def one_worker(path: str, run_count: int) -> Line:
    return _many_workers(path, run_count, 1)


def two_workers(path: str, run_count: int) -> Line:
    return _many_workers(path, run_count, 2)


def four_workers(path: str, run_count: int) -> Line:
    return _many_workers(path, run_count, 4)


def _many_workers(path: str, run_count: int, worker_count: int) -> Line:
    """All runs wait in the store before the first worker begins; each step has to be done exactly once."""
    engine = Engine(path)
    client = Client(engine)
    flow = flows.additions(_STEP_COUNT)
    for receipt in [client.start_soon(flow, f"r{number}", number) for number in range(run_count)]:
        engine.committer.lead()
        receipt.result()
    with ExitStack() as stack:
        workers = [stack.enter_context(_open(path)) for _ in range(worker_count)]
        stack.callback(_kill, workers)  # those that a failure here leaves behind
        for worker in workers:
            _demand(_told(worker), "ready")
        started = time.perf_counter()
        for worker in workers:
            _tell(worker, "begin")
        _await_end(engine, run_count, started)
        seconds = time.perf_counter() - started
        calls = [_end(worker) for worker in workers]
    _check(client, run_count, calls)
    engine.close()
    return {"steps_s": round(_STEP_COUNT * run_count / seconds, 1), "calls": calls}


def _check(client: Client, run_count: int, calls: list[int]) -> None:
    assert sum(calls) == _STEP_COUNT * run_count, calls
    for number in range(run_count):
        run = client.describe(f"r{number}")
        assert run["outputs"][0]["output"] == number + _STEP_COUNT, run
        history = client.history(f"r{number}")
        assert len(history) == _STEP_COUNT + 1, history


def _await_end(engine: Engine, run_count: int, started: float) -> None:
    """Looks seldom, for a look is work for the server, and often when the end is near."""
    while running_count := _running_count(engine):
        pace = (run_count - running_count) / (time.perf_counter() - started)
        left = running_count / pace if pace else 0.0
        time.sleep(min(_LOOK_ATMOST, max(_LOOK_EVERY, left / 2)))


def _running_count(engine: Engine) -> int:
    with engine.store.reading() as reading:
        return reading.run_counts().get("RUNNING", 0)


# --- Worker processes ---


def _open(path: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.benchmarks.many_workers", path]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _kill(workers: list[subprocess.Popen[str]]) -> None:
    for worker in workers:
        worker.kill()


def _tell(worker: subprocess.Popen[str], word: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(word + "\n")
    worker.stdin.flush()


def _told(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline().strip()


def _demand(told: str, expected: str) -> None:
    if told != expected:
        raise SystemExit(f"a worker process said {told!r}, not {expected!r}")


def _end(worker: subprocess.Popen[str]) -> int:
    _tell(worker, "end")
    call_count = int(_told(worker))
    assert worker.wait(60) == 0
    return call_count


def main() -> None:
    engine = Engine(sys.argv[1])
    worker = Worker(engine, concurrency=_THREAD_COUNT)
    print("ready", flush=True)
    sys.stdin.readline()
    with worker:
        sys.stdin.readline()
    print(flows.addition_count(), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
