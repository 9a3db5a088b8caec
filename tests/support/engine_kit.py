"""What the engine's scenarios share: a clock that tests turn, gates inside handlers, flows from text."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy.pool import NullPool

from orchestrator.core.codec import decode
from orchestrator.core.evolve import evolve
from orchestrator.core.groups import groups_of
from orchestrator.core.state import Run
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse
from orchestrator.engine.batch import Batch
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.store.attribute_store import AttributeStore
from orchestrator.store.bodies import Bodies
from orchestrator.store.contract import Store
from orchestrator.store.opening import open_store
from orchestrator.store.postgres_url import is_postgres, read_url

PATIENCE = 60.0
"""Seconds after which a scenario that should have moved is given up."""


class VirtualClock:
    """Stands still until it is advanced; then everybody who sleeps on it looks again."""

    def __init__(self, now: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._engines: list[Engine] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._now.timestamp()

    def tell(self, engine: Engine) -> None:
        self._engines.append(engine)

    def advance(self, **span: float) -> None:
        self.turn_to(self._now + timedelta(**span))

    def turn_to(self, now: datetime) -> None:
        self._now = max(now, self._now)
        for engine in self._engines:
            engine.look_again()


class Gate:
    """Lets a test see that a handler has arrived, and lets it go on."""

    def __init__(self) -> None:
        self._arrived = threading.Semaphore(0)
        self._open = threading.Semaphore(0)

    def pass_through(self) -> None:
        self._arrived.release()
        assert self._open.acquire(timeout=PATIENCE), "the test never opened the gate"

    def await_arrival(self) -> None:
        assert self._arrived.acquire(timeout=PATIENCE), "no handler arrived at the gate"

    def open(self, times: int = 1) -> None:
        self._open.release(times)


class Kit:
    """One store, one engine, its client; workers on demand."""

    def __init__(
        self,
        place: Path | str,
        attribute_store: AttributeStore | None = None,
        bodies: Bodies | None = None,
    ) -> None:
        """`place`: the directory of a new SQLite file, or a database URL."""
        self.clock = VirtualClock()
        self.path = str(place / "runs.db") if isinstance(place, Path) else place
        self.engine = Engine(self.path, clock=self.clock, attribute_store=attribute_store, bodies=bodies)
        self.clock.tell(self.engine)
        self.client = Client(self.engine)
        self.differences: list[str] = []
        """Runs whose rows said something else than memory after a commit."""
        self._note_commit = self.engine.committer.on_commit
        self.engine.committer.on_commit = self._compare

    @contextmanager
    def working(self, concurrency: int = 2) -> Iterator[Worker]:
        worker = Worker(self.engine, concurrency=concurrency)
        worker.start()
        try:
            yield worker
        finally:
            worker.stop(grace=5)

    def run(self, flow: Flow, flow_id: str = "run-1", input: Any = None) -> dict[str, Any]:
        """Start and work until it is closed."""
        self.client.start(flow, flow_id, input)
        with self.working() as worker:
            return worker.run_until_closed(flow_id)

    def settle(self, concurrency: int = 2) -> None:
        """Work until nothing is due; what backs off or waits for a timer is due later."""
        changed = threading.Event()
        worker = Worker(self.engine, concurrency=concurrency, on_progress=lambda _: changed.set())
        worker.start()
        ends_at = time.monotonic() + PATIENCE
        try:
            while self._is_busy():
                assert time.monotonic() < ends_at, "the runs never came to rest"
                changed.wait(0.05)
                changed.clear()
        finally:
            worker.stop(grace=5)

    def pass_time(self, **span: float) -> None:
        """Let time pass, then work until nothing is due."""
        self.clock.advance(**span)
        self.settle()

    def phases(self, flow_id: str = "run-1") -> dict[str, str]:
        active = self.client.describe(flow_id)["active"]
        return {each["step_execution_id"]: each["phase"] for each in active}

    def await_phase(self, phase: str, flow_id: str = "run-1") -> None:
        """Until every active execution is in this phase."""
        changed = threading.Event()
        with self.engine.waiting.waiter(flow_id, lambda _: True, changed):
            while set(self.phases(flow_id).values()) != {phase}:
                assert changed.wait(PATIENCE), f"{flow_id} is never {phase}: {self.phases(flow_id)}"
                changed.clear()

    def await_event(self, event: str, flow_id: str = "run-1") -> None:
        """Until the history has a commit of this kind."""
        changed = threading.Event()
        with self.engine.waiting.waiter(flow_id, lambda _: True, changed):
            while event not in self.events(flow_id):
                assert changed.wait(PATIENCE), f"{flow_id} has only {self.events(flow_id)}"
                changed.clear()

    def events(self, flow_id: str = "run-1") -> list[str]:
        return [commit["event"] for commit in self.client.history(flow_id)]

    def _is_busy(self) -> bool:
        """Is any execution in a worker's hands, or due?"""
        now = self.clock.now()
        with self.engine.store.reading() as reading:
            stored = [reading.load(head) for head in reading.heads() if head.status == "RUNNING"]
        return any(
            each.leases or any(e.due_at is not None and e.due_at <= now for e in each.run.executions.values())
            for each in stored
        )

    def _compare(self, batch: Batch) -> None:
        """After every commit: what the rows of a run say is the run."""
        for entry in batch.entries.values():
            with self.engine.store.reading() as reading:
                head = reading.find_run(entry.number)
                stored = reading.load(head).run if head is not None else None
            if stored is not None and stored.version > entry.run.version:
                continue  # another worker was at it meanwhile
            if stored is not None and entry.run.groups is not None:
                groups_of(stored)  # it has them made, the other has kept them up
            if stored != entry.run:
                self.differences.append(f"in memory {entry.run}\nin rows {stored}")
        self._note_commit(batch)

    def differing_replays(self) -> list[str]:
        """Runs whose rows say something else than their history."""
        differing = []
        with self.engine.store.reading() as reading:
            for head in reading.heads():
                replayed = Run()
                for row in reading.history(head.run):
                    evolve(replayed, decode(row.body))
                if replayed != reading.load(head).run:
                    differing.append(head.flow_id)
        return differing

    def close(self) -> None:
        self.engine.close()


def flow_of(text: str) -> Flow:
    flow, problems = parse(text, "scenario.flow.yaml")
    assert flow is not None, [problem.concise() for problem in problems]
    return flow


def another_store(kit: Kit) -> Store:
    """As another process would open it."""
    return open_store(kit.path)


def database_of(kit: Kit) -> sqlalchemy.Engine:
    """The kit's database, as an application opens it."""
    if not is_postgres(kit.path):
        return sqlalchemy.create_engine(f"sqlite:///{kit.path}", poolclass=NullPool)
    conninfo = read_url(kit.path).conninfo
    return sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=NullPool
    )
