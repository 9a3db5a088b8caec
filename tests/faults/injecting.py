"""The faults. Each is over when its function returns, but for clocks: these are put right at the end."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.crew import PATIENCE, Crew
from tests.faults.database import Database
from tests.faults.proxy import Proxy
from tests.faults.roles import AHEAD, ALIVE_FOR, BEHIND, RIGHT
from tests.faults.server import Cluster

EVERYWHERE = ("kill", "restart", "freeze", "clock")
FAULTS = {
    "sqlite": (*EVERYWHERE, "disk"),
    "postgres": (*EVERYWHERE, "terminate", "delay", "cut", "silence", "server"),
}
"""By database."""
_ALIVE_SECONDS = ALIVE_FOR.total_seconds()
_LOOK_EVERY = 0.05
_COMMITS_BETWEEN = 15
"""So much work is done between two faults."""
_BLOCK = 4096
_TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid != pg_backend_pid() AND backend_type = 'client backend' AND random() < %s
"""


@dataclass
class Injector:
    """Faults in an order that the seed decides."""

    crew: Crew
    database: Database
    kinds: Sequence[str]
    random: random.Random
    cluster: Cluster | None = None
    proxy: Proxy | None = None
    disk: Path | None = None
    """A file that fills the file system of the database; None: the processes are limited instead."""
    counts: Counter[str] = field(default_factory=Counter)
    late_count: int = 0
    """Runs that in the end only waited for a time that a wrong clock had set."""
    stalls: list[str] = field(default_factory=list)
    """Faults after which nothing moved."""

    def inject(self) -> str:
        kind = self.random.choice(self.kinds)
        fault: Callable[[], None] = getattr(self, f"_{kind}")
        fault()
        self.counts[kind] += 1
        self.crew.note_ended()
        return kind

    def await_progress(self) -> None:
        """The fault is over: work goes on."""
        wanted = self.database.commit_count() + _COMMITS_BETWEEN
        ends_at = time.monotonic() + PATIENCE
        while self.database.commit_count() < wanted:
            if time.monotonic() > ends_at:
                self.stalls.append(f"no progress for {PATIENCE:g} s after {dict(self.counts)}")
                return
            time.sleep(_LOOK_EVERY)
            self.crew.note_ended()

    def heal(self) -> None:
        for pid in self.crew.workers:
            self.crew.signal(pid, RIGHT)

    # --- Processes ---

    def _one(self) -> int:
        return self.random.choice(self.crew.workers)

    def _kill(self) -> None:
        """One, or all at once; new ones take their place."""
        victims = list(self.crew.workers) if self.random.random() < 0.2 else [self._one()]
        for pid in victims:
            self.crew.kill(pid)
        for _ in victims:
            self.crew.add_worker()

    def _restart(self) -> None:
        pid = self._one()
        self.crew.add_worker()
        self.crew.retire(pid)

    def _freeze(self) -> None:
        """Past its lease; then it comes back and goes on with what it held."""
        pid = self._one()
        self.crew.signal(pid, signal.SIGSTOP)
        time.sleep(_ALIVE_SECONDS * self.random.uniform(1.0, 2.0))
        self.crew.signal(pid, signal.SIGCONT)

    def _clock(self) -> None:
        self.crew.signal(self._one(), self.random.choice((AHEAD, BEHIND, RIGHT)))

    # --- The disk of SQLite ---

    def _disk(self) -> None:
        if self.disk is not None:
            self._fill(self.disk)
            return
        for pid in self.crew.workers:
            _limit_files(pid, _BLOCK)
        self._hold()
        for pid in self.crew.workers:
            _limit_files(pid, resource.RLIM_INFINITY)

    def _fill(self, filler: Path) -> None:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * _BLOCK)
        self._hold()
        filler.unlink()

    # --- PostgreSQL and the way to it ---

    def _terminate(self) -> None:
        self.database.ask(_TERMINATE, [self.random.choice((0.3, 1.0))])

    def _delay(self) -> None:
        assert self.proxy is not None
        self.proxy.delay = self.random.uniform(0.01, 0.1)
        self._hold()
        self.proxy.delay = 0.0

    def _cut(self) -> None:
        """A few times, or so often that whoever asks what became of a commit is cut off as well."""
        assert self.proxy is not None
        times, pause = self.random.choice(((2, 0.1), (4, 0.1), (40, 0.03)))
        for _ in range(self.random.randint(1, times)):
            self.proxy.cut()
            time.sleep(self.random.uniform(0.0, pause))

    def _silence(self) -> None:
        """Nothing passes for a while, perhaps longer than a lease; then connections are torn, or go on."""
        assert self.proxy is not None
        self.proxy.hush()
        self._hold(self.random.uniform(0.5, 2.0) * _ALIVE_SECONDS)
        if self.random.random() < 0.5:
            self.proxy.cut()
        self.proxy.speak()

    def _server(self) -> None:
        assert self.cluster is not None
        self.cluster.stop(self.random.choice(("immediate", "immediate", "fast")))
        self._hold(self.random.uniform(0.0, 1.0))
        self.cluster.start()

    def _hold(self, seconds: float = 0.5) -> None:
        threading.Event().wait(seconds)


def _limit_files(pid: int, size: int) -> None:
    """A process that writes further than this in a file is refused, as on a full disk."""
    with contextlib.suppress(ProcessLookupError):
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size if most == resource.RLIM_INFINITY else most, most))


def can_mount() -> bool:
    return os.geteuid() == 0
