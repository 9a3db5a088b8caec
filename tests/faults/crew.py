"""The processes of one trial, as whoever disturbs them sees them."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.faults.roles import ROOT

PATIENCE = 120.0
"""Seconds; only for what fails."""


class Host:
    """The process of host.py; one will do for many trials."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors
        with errors.open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.host"],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self._pids: queue.Queue[int] = queue.Queue()
        self._statuses: dict[int, int] = {}
        self._changed = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def fork(self, role: str, log: Path, **settings: Any) -> int:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"role": role, "log": str(log), **settings}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            told = self._errors.read_text()[-2000:]
            raise AssertionError(f"the host has ended with {self._process.wait(PATIENCE)}: {told}") from None
        try:
            return self._pids.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"no process was forked: {self._errors.read_text()[-2000:]}") from None

    def status_of(self, pid: int) -> int | None:
        """None: it lives."""
        with self._changed:
            return self._statuses.get(pid)

    def await_end(self, pid: int) -> int:
        with self._changed:
            if not self._changed.wait_for(lambda: pid in self._statuses, PATIENCE):
                os.kill(pid, signal.SIGABRT)  # its log tells what all threads do
                raise AssertionError(f"process {pid} does not end")
            return self._statuses[pid]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._listener.join(PATIENCE)
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "pid" in told:
                self._pids.put(told["pid"])
                continue
            with self._changed:
                self._statuses[told["ended"]] = told["status"]
                self._changed.notify_all()


class Crew:
    """Workers and clients on one store."""

    def __init__(self, host: Host, directory: Path, store: str, seed: int) -> None:
        self._host = host
        self._directory = directory
        self._store = store
        self._seed = seed
        self._count = 0
        self.workers: list[int] = []
        self.clients: list[int] = []
        self.killed: set[int] = set()
        self.unexpected: list[str] = []
        """Ends that nobody has asked for."""

    def add_worker(self, **settings: Any) -> int:
        settings |= {"store": self._store, "calls": str(self._directory)}
        pid = self._host.fork("worker", self._log("worker"), **settings)
        self.workers.append(pid)
        return pid

    def add_client(self) -> int:
        """Every second one is a loop of coroutines."""
        name = str(len(self.clients) + 1)
        ledger = str(self._directory / f"{name}.ledger")
        settings = {"store": self._store, "name": name, "seed": self._seed + len(self.clients)}
        settings["is_async"] = len(self.clients) % 2 == 1
        pid = self._host.fork("client", self._log("client"), ledger=ledger, **settings)
        self.clients.append(pid)
        return pid

    def kill(self, pid: int) -> None:
        self.killed.add(pid)
        self.signal(pid, signal.SIGKILL)
        self._host.await_end(pid)
        self.workers.remove(pid)

    def signal(self, pid: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def retire(self, pid: int) -> None:
        """Stop a worker as an administrator does."""
        self.signal(pid, signal.SIGTERM)
        self._expect_end("worker", pid)
        self.workers.remove(pid)

    def note_ended(self) -> None:
        """Those that have ended by themselves are replaced, as a supervisor would, and told."""
        for pid in list(self.workers):
            status = self._host.status_of(pid)
            if status is not None:
                self.unexpected.append(f"worker {pid} ended by itself with {status}")
                self.workers.remove(pid)
                self.add_worker()

    def dismiss_clients(self) -> None:
        for pid in self.clients:
            self.signal(pid, signal.SIGTERM)
        for pid in self.clients:
            self._expect_end("client", pid)

    def dismiss_workers(self) -> None:
        for pid in self.workers:
            self.signal(pid, signal.SIGTERM)
        for pid in self.workers:
            self._expect_end("worker", pid)
        self.workers.clear()

    def abandon(self) -> None:
        """After a failure: nobody is left."""
        for pid in [*self.workers, *self.clients]:
            if self._host.status_of(pid) is None:
                self.signal(pid, signal.SIGKILL)

    def _expect_end(self, kind: str, pid: int) -> None:
        status = self._host.await_end(pid)
        if status:
            self.unexpected.append(f"{kind} {pid} ended with {status}")

    def _log(self, kind: str) -> Path:
        self._count += 1
        return self._directory / f"{kind}-{self._count}.log"
