"""Workers are replaced one after another while there is work: no attempt is lost, none is done twice."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.queue_settings import set_queue
from orchestrator.store.queues import QueueSettings
from tests.support.engine_kit import flow_of
from tests.support.rolling_handlers import LOG

ROOT = Path(__file__).parents[2]
LONG = 120.0
"""Seconds; only what has gone wrong takes so long."""
CHAIN = flow_of(
    """
flow: Chain
handlers: tests.support.rolling_handlers
start: First
steps:
  First: {execute: work, go_to: Second}
  Second: {execute: work, go_to: Third}
  Third: {execute: work, graceful_complete: null}
"""
)
HOLDING = flow_of(
    """
flow: Holding
handlers: tests.support.rolling_handlers
start: Work
steps:
  Work: {execute: {handler: hold, timeout: 1h}, graceful_complete: null}
"""
)
Spawn = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def url(place: Path | str) -> str:
    return f"sqlite:///{place / 'runs.db'}" if isinstance(place, Path) else place


@pytest.fixture
def spawn(url: str, tmp_path: Path) -> Iterator[Spawn]:
    """Starts workers as processes: `spawn(grace)`."""
    processes: list[subprocess.Popen[str]] = []
    environment = {**os.environ, "PYTHONPATH": str(ROOT), LOG: str(tmp_path / "log")}

    def start(grace: float = LONG) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.support.engine_peer", url, str(grace)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def end(process: subprocess.Popen[str]) -> None:
    """It has drained and is gone."""
    assert process.wait(LONG) == 0


def lines(tmp_path: Path) -> list[list[str]]:
    """What, flow id, step execution, attempt and process of each call."""
    return [line.split() for line in (tmp_path / "log").read_text().splitlines()]


def most_at_once(calls: list[list[str]]) -> int:
    return max(itertools.accumulate(1 if call[0] == "begin" else -1 for call in calls))


class Load:
    """Threads that start a run, wait for its end, and start the next, until they are told to stop."""

    def __init__(self, client: Client, thread_count: int = 3) -> None:
        self.flow_ids: list[str] = []
        self.failures: list[str] = []
        self._client = client
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._feed, args=(number,)) for number in range(thread_count)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(LONG)

    def _feed(self, number: int) -> None:
        for turn in itertools.count():
            if self._is_over.is_set():
                return
            flow_id = f"r{number}-{turn}"
            self.flow_ids.append(flow_id)
            try:
                self._client.start(CHAIN, flow_id)
                run = self._client.wait(flow_id, timeout=LONG)
            except Exception as error:
                self.failures.append(f"{flow_id}: {error}")
                return
            if run["status"] != "COMPLETED":
                self.failures.append(f"{flow_id}: {run['status']}")


@pytest.mark.parametrize("limit", [None, 2], ids=["unlimited", "limited"])
def test_no_attempt_is_lost_or_done_twice(url: str, spawn: Spawn, tmp_path: Path, limit: int | None) -> None:
    with closing(Engine(url)) as engine:
        if limit is not None:
            set_queue(engine, "narrow", lambda _: QueueSettings(routes=("Chain",), concurrency=limit))
        workers = [spawn(), spawn()]
        load = Load(Client(engine))
        for _ in range(2):
            oldest = workers.pop(0)
            oldest.send_signal(signal.SIGTERM)
            workers.append(spawn())
            end(oldest)
        load.stop()
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            end(worker)
        assert load.failures == []
    if limit is not None:
        assert most_at_once(lines(tmp_path)) <= limit
    calls = Counter(tuple(line[:4]) for line in lines(tmp_path))
    steps = ("First-1", "Second-1", "Third-1")
    whats = ("begin", "end")
    expected = {(what, run, step, "1") for run in load.flow_ids for step in steps for what in whats}
    assert calls.keys() == expected
    assert set(calls.values()) == {1}


def test_others_go_on_at_once_with_what_a_draining_worker_has_not_begun(
    url: str, spawn: Spawn, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "begun")
    os.mkfifo(tmp_path / "hold")
    with Client(url) as client:
        leaving = spawn()
        client.start(HOLDING, "held")
        (tmp_path / "begun").read_text()
        for number in range(20):
            client.start_soon(CHAIN, f"r{number}").result()
        leaving.send_signal(signal.SIGTERM)
        staying = spawn()
        for number in range(20):
            assert client.wait(f"r{number}", timeout=LONG)["status"] == "COMPLETED"
        assert leaving.poll() is None, "its handler still runs"
        (tmp_path / "hold").write_text("go on")
        end(leaving)
        assert client.describe("held")["status"] == "COMPLETED"
        staying.send_signal(signal.SIGTERM)
        end(staying)
    assert [line[0] for line in lines(tmp_path) if line[1] == "held"] == ["begin", "end"]


@pytest.mark.rule(157)
def test_what_does_not_end_in_time_is_handed_back_as_the_same_attempt(
    url: str, spawn: Spawn, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "begun")
    os.mkfifo(tmp_path / "hold")
    with Client(url) as client:
        leaving = spawn(0.1)
        client.start(HOLDING, "held")
        assert int((tmp_path / "begun").read_text()) == leaving.pid
        staying = spawn()
        leaving.send_signal(signal.SIGTERM)
        end(leaving)
        assert int((tmp_path / "begun").read_text()) == staying.pid
        (tmp_path / "hold").write_text("go on")
        assert client.wait("held", timeout=LONG)["status"] == "COMPLETED"
    assert [line[3] for line in lines(tmp_path)] == ["1", "1", "1"]
